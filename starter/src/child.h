// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHILD_H
#define KC_CHILD_H

#include "programs.h"

// Starts the program with these arguments in a session of its own. `descriptors` are those that it
// takes, in their order; those of 0–2 that are not among them are /dev/null, and there are no
// others. The program ends with this process, until it takes an account of its own; then it ends by
// itself. Returns a pidfd, or -1.
int kc_child_start(const struct kc_program *program, const struct kc_arguments *arguments,
                   const int *descriptors);

void kc_child_kill(int child);

// Reaps a child whose pidfd is readable. Returns its exit code, or KC_START_BY_SIGNAL.
uint32_t kc_child_reap(int child);

#endif
