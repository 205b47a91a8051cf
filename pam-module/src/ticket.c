// SPDX-License-Identifier: Apache-2.0
#include "ticket.h"

#include <keyutils.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define TICKET_BYTES 32

static const char ticket_name[] = "keychain:ticket";

// The ticket's possessor may view, read and find it; its owner, root or the number of the process
// that keeps the user's keychains, may do everything; other users nothing. So the user can lose the
// ticket, but neither change it nor link it elsewhere.
static const key_perm_t ticket_permissions =
    KEY_POS_VIEW | KEY_POS_READ | KEY_POS_SEARCH | KEY_USR_ALL;

struct key_facts {
    char type[32];
    unsigned uid;
    char description[64];
};

// Returns false for a key that is gone, revoked, or not visible to this process.
static bool describe(key_serial_t key, struct key_facts *facts) {
    char text[256];
    int from = 0;
    unsigned gid = 0;
    unsigned permissions = 0;
    long count = keyctl_describe(key, text, sizeof text);
    if (count <= 0 || (size_t)count > sizeof text) return false;
    if (sscanf(text, "%31[^;];%u;%u;%x;%n", facts->type, &facts->uid, &gid, &permissions, &from) <
            4 ||
        from == 0) {
        return false;
    }
    (void)snprintf(facts->description, sizeof facts->description, "%s", text + from);
    return true;
}

static bool is_ticket(key_serial_t key, uint32_t number) {
    struct key_facts facts;
    return describe(key, &facts) && strcmp(facts.type, "user") == 0 &&
           (facts.uid == 0 || facts.uid == number) && strcmp(facts.description, ticket_name) == 0;
}

// A revoked key keeps its place in its owner's quota, an invalidated one is gone. What can't be
// invalidated is revoked; a revoked one can't be invalidated.
static void end(key_serial_t ticket) {
    if (keyctl_invalidate(ticket) != 0) (void)keyctl_revoke(ticket);
}

// Whether the session keyring is one that a login made for this user. It must not be root's, nor
// the one that all sessions of the user share ("_uid_ses."), nor already another session's, whose
// ticket a second one would displace.
static bool session_keyring_is_own(uid_t uid, uint32_t number) {
    struct key_facts facts;
    key_serial_t keyring = keyctl_get_keyring_ID(KEY_SPEC_SESSION_KEYRING, 0);
    if (keyring < 0 || !describe(keyring, &facts)) return false;
    if (facts.uid != uid || strncmp(facts.description, "_uid", 4) == 0) return false;
    long found = keyctl_search(keyring, "user", ticket_name, 0);
    return found < 0 || !is_ticket((key_serial_t)found, number);
}

// Makes the key in a keyring of this thread's own, which no other program can have put a key into:
// adding it to the user's keyring would *update* a key of that name that the user had planted.
static key_serial_t make_ticket(key_serial_t nest) {
    uint8_t payload[TICKET_BYTES] = {0};
    key_serial_t ticket = -1;
    if (getrandom(payload, sizeof payload, 0) != (ssize_t)sizeof payload) goto done;
    ticket = add_key("user", ticket_name, payload, sizeof payload, nest);
    if (ticket >= 0 && keyctl_setperm(ticket, ticket_permissions) != 0) {
        end(ticket);
        ticket = -1;
    }
done:
    sodium_memzero(payload, sizeof payload);
    return ticket;
}

// Links the ticket into the session keyring: the inherited one if it is the user's and takes it,
// else a new one. A new one is given to the user; where the user's quota is full it stays root's,
// which works as well.
static bool link_to_session(key_serial_t ticket, uid_t uid, gid_t gid, uint32_t number) {
    if (session_keyring_is_own(uid, number) && keyctl_link(ticket, KEY_SPEC_SESSION_KEYRING) == 0) {
        return true;
    }
    key_serial_t keyring = keyctl_join_session_keyring(NULL);
    if (keyring < 0) return false;
    bool is_linked = keyctl_link(ticket, keyring) == 0;
    (void)keyctl_chown(keyring, uid, gid);
    return is_linked;
}

// The last of all, since root is then one who possesses the ticket at most.
static bool give_away(key_serial_t ticket, uint32_t number) {
    return number == 0 || keyctl_chown(ticket, number, (gid_t)-1) == 0;
}

int32_t kc_ticket_create(uid_t uid, gid_t gid, uint32_t number) {
    key_serial_t ticket = -1;
    key_serial_t nest = add_key("keyring", "keychain:nest", NULL, 0, KEY_SPEC_THREAD_KEYRING);
    if (nest < 0) return 0;
    ticket = make_ticket(nest);
    if (ticket >= 0 && (!link_to_session(ticket, uid, gid, number) || !give_away(ticket, number))) {
        end(ticket);
        ticket = -1;
    }
    // The session keyring holds the ticket now, so this thread's keyring is removed.
    (void)keyctl_unlink(nest, KEY_SPEC_THREAD_KEYRING);
    return ticket > 0 ? ticket : 0;
}

void kc_ticket_end(int32_t ticket, uint32_t number) {
    // The kernel reuses serials: a key that is not a ticket must not be ended.
    if (ticket > 0 && is_ticket(ticket, number)) end(ticket);
}
