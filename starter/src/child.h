// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHILD_H
#define KC_CHILD_H

#include "programs.h"

#include <sys/types.h>

// Starts the program with these arguments in a session of its own. Its request is the next one of
// the connection, which the child receives and answers: KC_START_STARTED, or why it is none. The
// program has the descriptors that come with it; those of 0–2 that are not among them are
// /dev/null, and there are no others. The program ends with this process, until it takes an account
// of its own; then it ends by itself. Returns a pidfd, or -1.
int kc_child_start(const struct kc_program *program, const struct kc_arguments *arguments,
                   int connection);

// Closes the connection, with what was sent on it and not received, by the end of a child: a socket
// in it that is set to linger would keep this process waiting, and keeps none that ends. Returns
// the child's pidfd; -1 where no child could be made, and the connection is still open.
int kc_child_close(int connection);

// Ends a process of the number's by its pidfd. Returns whether it has been told to end, or has
// ended; not where it is another number's.
bool kc_child_end(int process, uid_t number);

// Returns whether it has been told to end.
bool kc_child_kill(int child);

// Reaps a child whose pidfd is readable. Returns its exit code, or KC_START_BY_SIGNAL.
uint32_t kc_child_reap(int child);

#endif
