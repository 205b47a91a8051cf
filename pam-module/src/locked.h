// SPDX-License-Identifier: Apache-2.0
#ifndef KC_LOCKED_H
#define KC_LOCKED_H

#include <stddef.h>

// Returns zeroed memory on pages of its own, or NULL. Core dumps leave the pages out. They are also
// kept from swap where the system permits it: a screen locker that runs as its user may be over its
// limit, and must work all the same.
void *kc_locked_new(size_t count);

// Wipes and frees the memory. NULL is allowed.
void kc_locked_free(void *memory, size_t count);

#endif
