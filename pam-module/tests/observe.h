// SPDX-License-Identifier: Apache-2.0
// What a host shows of itself: keys, memory, descriptors, and what a module must leave as it is.
#ifndef KC_OBSERVE_H
#define KC_OBSERVE_H

#include <stdbool.h>

// False for a step that shows nothing.
bool observe(const char *step);

#endif
