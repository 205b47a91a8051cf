// SPDX-License-Identifier: Apache-2.0
#include "start_record.h"

#include "check.h"

#include <string.h>

enum { VERSION_AT = 4, ZERO_AT = 6, SERVICE_AT = 12, ACCOUNT_AT = 60, ASKER_AT = 316 };

static uint8_t bytes[KC_START_REQUEST_SIZE + 1];
static struct kc_start_request request;

static bool encodes(uint32_t user, const char *service, const char *account, const char *asker) {
    return kc_start_request_encode(user, service, account, asker, bytes);
}

static bool presence(void) { return encodes(1000, "keychain-presence", "alice", ""); }

static enum kc_start_status status(size_t count) {
    return kc_start_request_decode(bytes, count, &request);
}

static bool is_malformed(void) { return status(KC_START_REQUEST_SIZE) == KC_START_MALFORMED; }

static bool round_trip(void) {
    HOLDS(presence() && status(KC_START_REQUEST_SIZE) == KC_START_OK);
    HOLDS(request.user == 1000 && strcmp(request.service, "keychain-presence") == 0);
    HOLDS(strcmp(request.account, "alice") == 0 && request.asker[0] == '\0');
    HOLDS(encodes(0, KC_START_APPROVAL, "ann", "alice"));
    HOLDS(status(KC_START_REQUEST_SIZE) == KC_START_OK && strcmp(request.asker, "alice") == 0);
    return true;
}

static bool layout(void) {
    static const uint8_t head[] = {0x4b, 0x43, 0x41, 0x55, 1, 0, 0, 0, 0xe8, 3, 0, 0};
    HOLDS(presence() && memcmp(bytes, head, sizeof head) == 0);
    HOLDS(memcmp(bytes + SERVICE_AT, "keychain-presence", 18) == 0);
    HOLDS(memcmp(bytes + ACCOUNT_AT, "alice", 6) == 0 && bytes[ASKER_AT] == 0);
    return true;
}

static bool other_sizes(void) {
    for (size_t count = 0; count <= sizeof bytes; count++) {
        HOLDS(presence());
        HOLDS((status(count) == KC_START_OK) == (count == KC_START_REQUEST_SIZE));
        HOLDS(count == KC_START_REQUEST_SIZE || request.service[0] == '\0');
    }
    return true;
}

static bool other_heads(void) {
    for (size_t index = 0; index < 4; index++) {
        HOLDS(presence());
        bytes[index] ^= 1;
        HOLDS(is_malformed());
    }
    for (unsigned version = 0; version < 4; version++) {
        HOLDS(presence());
        bytes[VERSION_AT] = (uint8_t)version;
        HOLDS(status(KC_START_REQUEST_SIZE) == (version == 1 ? KC_START_OK : KC_START_FOREIGN));
        // Its size is that version's own business.
        HOLDS(version == 1 || status(KC_START_REPLY_SIZE) == KC_START_FOREIGN);
    }
    HOLDS(presence());
    bytes[ZERO_AT] = 1;
    HOLDS(is_malformed());
    return true;
}

static bool no_user(void) {
    HOLDS(!encodes(UINT32_MAX, "keychain-presence", "alice", ""));
    HOLDS(encodes(UINT32_MAX - 1, "keychain-presence", "alice", ""));
    return true;
}

static bool other_services(void) {
    static const char *const others[] = {
        "",
        "su",
        "keychain",
        "keychain-",
        "keychain-../su",
        "keychain-Presence",
        "keychain-a b",
        "keychain-a.b",
        "Keychain-presence",
        "xkeychain-presence",
        "keychain-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "keychain-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++)
        HOLDS(!encodes(1000, others[index], "alice", ""));
    HOLDS(encodes(1000, "keychain-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "alice", ""));
    HOLDS(encodes(1000, "keychain-two-7", "alice", ""));
    return true;
}

static bool other_names(void) {
    char longest[KC_START_NAME_SIZE + 1] = "";
    HOLDS(!encodes(1000, "keychain-presence", "", ""));
    HOLDS(!encodes(1000, "keychain-presence", "al\nice", ""));
    HOLDS(!encodes(1000, "keychain-presence", "al\177ice", ""));
    HOLDS(encodes(1000, "keychain-presence", "REALM\\al ice", ""));
    memset(longest, 'a', KC_START_NAME_SIZE);
    HOLDS(!encodes(1000, "keychain-presence", longest, ""));
    longest[KC_START_NAME_SIZE - 1] = '\0';
    HOLDS(encodes(1000, "keychain-presence", longest, ""));
    return true;
}

static bool fields_without_an_end(void) {
    static const size_t ends[] = {ACCOUNT_AT, ASKER_AT, KC_START_REQUEST_SIZE};
    static const size_t begins[] = {SERVICE_AT, ACCOUNT_AT, ASKER_AT};
    for (size_t index = 0; index < 3; index++) {
        HOLDS(encodes(1000, KC_START_APPROVAL, "ann", "alice"));
        memset(bytes + begins[index], 'a', ends[index] - begins[index]);
        HOLDS(is_malformed());
        // Nor with anything behind the end.
        HOLDS(encodes(1000, KC_START_APPROVAL, "ann", "alice"));
        bytes[ends[index] - 1] = 'a';
        HOLDS(is_malformed());
    }
    return true;
}

static bool askers(void) {
    HOLDS(!encodes(1000, "keychain-presence", "alice", "bob"));
    HOLDS(!encodes(1000, KC_START_APPROVAL, "alice", ""));
    HOLDS(!encodes(1000, KC_START_APPROVAL, "alice", "alice"));
    HOLDS(!encodes(1000, KC_START_APPROVAL, "alice", "b\nob"));
    HOLDS(encodes(1000, KC_START_APPROVAL, "alice", "bob"));
    return true;
}

static bool replies(void) {
    uint8_t reply[KC_START_REPLY_SIZE];
    enum kc_start_word word;
    static const enum kc_start_word words[] = {
        KC_START_STARTED,     KC_START_ENDED,      KC_START_BAD_REQUEST, KC_START_OTHER_VERSION,
        KC_START_NOT_ALLOWED, KC_START_NO_SERVICE, KC_START_BUSY,        KC_START_FAILED,
    };
    for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
        kc_start_reply_encode(words[index], reply);
        HOLDS(kc_start_reply_decode(reply, sizeof reply, &word) == KC_START_OK);
        HOLDS(word == words[index]);
        HOLDS(kc_start_reply_decode(reply, sizeof reply - 1, &word) == KC_START_MALFORMED);
    }
    for (unsigned other = 0; other < 0x10000; other++) {
        reply[6] = (uint8_t)other;
        reply[7] = (uint8_t)(other >> 8);
        bool known = other == 1 || other == 2 || (other >= 0x8001 && other <= 0x8006);
        HOLDS((kc_start_reply_decode(reply, sizeof reply, &word) == KC_START_OK) == known);
    }
    reply[VERSION_AT] = 2;
    HOLDS(kc_start_reply_decode(reply, sizeof reply, &word) == KC_START_FOREIGN);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"a request is read as it was written", round_trip},
        {"the layout is that of the header's picture", layout},
        {"a request of another size is refused", other_sizes},
        {"a request with another head is refused, and of another version told apart", other_heads},
        {"a request of no user is refused", no_user},
        {"only services of the product are asked", other_services},
        {"a name is a text without control characters, and no longer than its field", other_names},
        {"a field ends, and zeros follow", fields_without_an_end},
        {"an approval has another person as asker, and nothing else has one", askers},
        {"a reply is one of eight words", replies},
    };
    return RUN(tests);
}
