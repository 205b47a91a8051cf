// SPDX-License-Identifier: Apache-2.0
#ifndef KC_TICKET_H
#define KC_TICKET_H

#include <stdint.h>
#include <sys/types.h>

// Makes a ticket in a session keyring that is the user's own and has none yet; joins such a keyring
// first if need be. The ticket is the number's; root's where that is 0. Returns the ticket's
// serial, or 0, and no ticket, where the kernel refuses.
int32_t kc_ticket_create(uid_t uid, gid_t gid, uint32_t number);

// Ends a ticket of root's, whichever keyring holds it, or one of the number's that this process
// possesses. One of the number's that it does not possess is ended by the worker.
void kc_ticket_end(int32_t ticket, uint32_t number);

#endif
