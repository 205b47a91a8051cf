// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHILD_H
#define KC_CHILD_H

#include "start_record.h"

// Starts the program with the request's service, account and asker as its arguments and without an
// environment, in a session of its own. Descriptor 3 is the conversation, 0–2 are /dev/null, and
// there are no others. The program ends with this process. Returns a pidfd, or -1.
int kc_child_start(const char *program, const struct kc_start_request *request, int conversation);

void kc_child_kill(int child);

// Reaps a child whose pidfd is readable.
void kc_child_reap(int child);

#endif
