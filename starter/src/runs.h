// SPDX-License-Identifier: Apache-2.0
#ifndef KC_RUNS_H
#define KC_RUNS_H

#include "installation.h"

// Serves the listening socket until that fails. One thread with one table serves all: each
// connection is a run of one program, or has this process itself do something.
void kc_serve(int listener, const struct kc_installation *installation);

#endif
