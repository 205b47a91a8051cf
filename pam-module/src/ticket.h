// SPDX-License-Identifier: Apache-2.0
#ifndef KC_TICKET_H
#define KC_TICKET_H

#include <stdint.h>
#include <sys/types.h>

// Makes a ticket in a session keyring that is the user's own and has none yet; joins such a keyring
// first if need be. Returns the ticket's serial, or 0 where the kernel refuses.
int32_t kc_ticket_create(uid_t uid, gid_t gid);

// Revokes a ticket, whichever keyring holds it by now.
void kc_ticket_revoke(int32_t ticket);

#endif
