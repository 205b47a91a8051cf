// SPDX-License-Identifier: Apache-2.0
#ifndef KC_SERVING_H
#define KC_SERVING_H

#include "audit_record.h"

// The most sockets that come over keychaind's connection and are served at a time.
#define KC_AUDIT_SOCKETS 1024

// Serves keychaind's connection, the sockets that come over it, and those for at most two seconds
// more when it has ended. One thread with one table serves all; none of them makes it wait.
void kc_serve(int control, int folder);

// Says the word without waiting. False where it is lost because the peer leaves its replies unread.
bool kc_say(int connection, enum kc_audit_word word);

#endif
