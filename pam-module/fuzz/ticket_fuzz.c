// SPDX-License-Identifier: Apache-2.0
//
// Plays a kernel that describes keys as the input says, and fails where the input says. A made
// ticket is held by a session keyring and by no other. The inherited keyring holds it only where
// that keyring is the user's, and not the one that all sessions of the user share. A ticket that is
// returned is the number's, and one that is not does not live on. Only keys that the kernel
// described as tickets of root's or of the number are ended.
#include "fuzz.h"
#include "ticket.h"

#include <errno.h>
#include <keyutils.h>
#include <string.h>
#include <sys/random.h>

enum { NUMBER = 0x7b000007, NEST = 11, TICKET = 12, INHERITED = 21, JOINED = 22, FOUND = 31 };

static struct input in;
// Whose the ticket is to be: root's or NUMBER's.
static uint32_t number;
static struct {
    bool nest_lives, ticket_lives, ticket_in_nest, ticket_in_session, is_joined, ticket_is_numbers;
    bool describes_ticket;
    // As the kernel last described the keyring that the process inherited.
    bool inherited_is_own;
} kernel;

static bool fails(void) {
    errno = EACCES;
    return take_byte(&in) % 4 == 3;
}

key_serial_t add_key(const char *type, const char *name, const void *bytes, size_t count,
                     key_serial_t ring) {
    (void)bytes;
    (void)count;
    if (fails()) return -1;
    if (strcmp(type, "keyring") == 0) {
        REQUIRE(ring == KEY_SPEC_THREAD_KEYRING);
        kernel.nest_lives = true;
        return NEST;
    }
    REQUIRE(ring == NEST && strcmp(name, "keychain:ticket") == 0 && count == 32);
    kernel.ticket_lives = kernel.ticket_in_nest = true;
    return TICKET;
}

long keyctl_setperm(key_serial_t key, key_perm_t permissions) {
    REQUIRE(key == TICKET && (permissions & (KEY_GRP_ALL | KEY_OTH_ALL)) == 0);
    REQUIRE((permissions & (KEY_POS_WRITE | KEY_POS_LINK | KEY_POS_SETATTR)) == 0);
    return fails() ? -1 : 0;
}

long keyctl_link(key_serial_t key, key_serial_t ring) {
    REQUIRE(key == TICKET);
    REQUIRE(ring == KEY_SPEC_SESSION_KEYRING || ring == JOINED);
    REQUIRE(ring == JOINED || kernel.inherited_is_own);
    if (fails()) return -1;
    kernel.ticket_in_session = true;
    return 0;
}

long keyctl_unlink(key_serial_t key, key_serial_t ring) {
    REQUIRE(key == NEST && ring == KEY_SPEC_THREAD_KEYRING);
    kernel.nest_lives = kernel.ticket_in_nest = false;
    return 0;
}

static void end(key_serial_t key) {
    if (key == TICKET) {
        kernel.ticket_lives = false;
    } else {
        REQUIRE(kernel.describes_ticket);
    }
}

// What can't be invalidated is revoked, which does not fail here.
long keyctl_invalidate(key_serial_t key) {
    if (fails()) return -1;
    end(key);
    return 0;
}

long keyctl_revoke(key_serial_t key) {
    end(key);
    return 0;
}

long keyctl_chown(key_serial_t key, uid_t uid, gid_t gid) {
    if (key == TICKET) {
        REQUIRE(number == NUMBER && uid == NUMBER && gid == (gid_t)-1 && kernel.ticket_in_session);
        if (fails()) return -1;
        kernel.ticket_is_numbers = true;
        return 0;
    }
    REQUIRE(key == JOINED && uid == 1000 && gid == 1001);
    return fails() ? -1 : 0;
}

key_serial_t keyctl_join_session_keyring(const char *name) {
    REQUIRE(name == NULL);
    if (fails()) return -1;
    kernel.is_joined = true;
    return JOINED;
}

key_serial_t keyctl_get_keyring_ID(key_serial_t key, int create) {
    REQUIRE(key == KEY_SPEC_SESSION_KEYRING && create == 0);
    return fails() ? -1 : INHERITED;
}

long keyctl_search(key_serial_t ring, const char *type, const char *name, key_serial_t into) {
    REQUIRE(ring == INHERITED && into == 0);
    REQUIRE(strcmp(type, "user") == 0 && strcmp(name, "keychain:ticket") == 0);
    return fails() ? -1 : FOUND;
}

static bool is_known_ticket(const char *text) {
    size_t count = strlen(text);
    const char *name = ";keychain:ticket";
    size_t tail = strlen(name);
    if (strncmp(text, "user;", 5) != 0) return false;
    unsigned owner = (unsigned)strtoul(text + 5, NULL, 10);
    return (owner == 0 || owner == number) && count > tail &&
           strcmp(text + count - tail, name) == 0;
}

// Whether it is a keyring of user 1000 that a login made.
static bool is_own_keyring(const char *text) {
    const char *owner = strchr(text, ';');
    if (owner == NULL || (unsigned)strtoul(owner + 1, NULL, 10) != 1000) return false;
    const char *name = text;
    for (int field = 0; field < 4; field++) {
        name = strchr(name, ';');
        if (name == NULL) return false;
        name++;
    }
    return strncmp(name, "_uid", 4) != 0;
}

// As the kernel does: returns the length, and writes the text only where it has room.
long keyctl_describe(key_serial_t key, char *out, size_t room) {
    static const char *const kinds[] = {
        "user;0;0;0f3f0000;keychain:ticket", "keyring;1000;1000;3f1b0000;_ses",
        "keyring;1000;-1;3f1b0000;_uid_ses.1000", "user;2063597575;0;0b3f0000;keychain:ticket"};
    if (key == INHERITED) kernel.inherited_is_own = false;
    if (fails()) return -1;
    uint8_t kind = take_byte(&in);
    char *own = kind < 4 ? strdup(kinds[kind]) : take_text(&in, 400);
    if (own == NULL) return -1;
    size_t count = strlen(own) + 1;
    // Where the text does not fit, the room holds a misleading one, which must not be believed.
    (void)snprintf(out, room, "%s", kinds[0]);
    if (count <= room) memcpy(out, own, count);
    kernel.describes_ticket = is_known_ticket(own);
    // A text that does not fit is no answer.
    if (key == INHERITED) kernel.inherited_is_own = count <= room && is_own_keyring(own);
    free(own);
    return (long)count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    in = (struct input){bytes, count};
    memset(&kernel, 0, sizeof kernel);
    number = take_byte(&in) % 2 == 0 ? 0 : NUMBER;
    int32_t ticket = kc_ticket_create(1000, 1001, number);
    REQUIRE(ticket == 0 || ticket == TICKET);
    REQUIRE(!kernel.nest_lives && !kernel.ticket_in_nest);
    if (ticket == TICKET) {
        REQUIRE(kernel.ticket_lives && kernel.ticket_in_session);
        REQUIRE(kernel.ticket_is_numbers == (number == NUMBER));
    } else {
        REQUIRE(!kernel.ticket_lives);
    }
    kernel.describes_ticket = false;
    kc_ticket_end((int32_t)take_byte(&in) - 1, number);
    return 0;
}
