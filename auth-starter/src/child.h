// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHILD_H
#define KC_CHILD_H

#include "auth_record.h"

// Starts the program with the request's service, account and asker as its arguments, no
// environment, the conversation as descriptor 3 and no other, in a session of its own, to end with
// this process. A pidfd, or -1.
int kc_child_start(const char *program, const struct kc_auth_request *request, int conversation);

void kc_child_kill(int child);

// For a child whose pidfd is readable.
void kc_child_reap(int child);

#endif
