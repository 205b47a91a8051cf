// SPDX-License-Identifier: Apache-2.0
#ifndef KC_LOCKED_H
#define KC_LOCKED_H

#include <stddef.h>

// Zeroed memory on pages of its own, which no core dump contains, and no swap where the system
// lets us lock it: a locker that runs as its user may be over its limit, and works all the same.
// NULL if there is none.
void *kc_locked_new(size_t count);

// Wipes and gives back. NULL is fine.
void kc_locked_free(void *memory, size_t count);

#endif
