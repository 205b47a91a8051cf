// SPDX-License-Identifier: Apache-2.0
#ifndef KC_DESCRIPTOR_H
#define KC_DESCRIPTOR_H

// Moves a new descriptor out of 0–2, which are the host's even when it has closed them: a message
// meant for standard error must not reach the daemon. Returns -1 for -1, with errno unchanged.
int kc_above_standard(int descriptor);

// Closes without changing errno; -1 is allowed.
void kc_close(int descriptor);

#endif
