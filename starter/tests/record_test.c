// SPDX-License-Identifier: Apache-2.0
#include "start_record.h"

#include "check.h"

#include <string.h>

enum { VERSION_AT = 4, PROGRAM_AT = 6, FIELDS_AT = 12, ACCOUNT_AT = 60, ASKER_AT = 316 };

static uint8_t bytes[KC_START_REQUEST_MAX + 1];
static struct kc_start_request request;

static bool encodes(uint32_t user, const char *service, const char *account, const char *asker) {
    return kc_start_encode_authentication(user, service, account, asker, bytes) > 0;
}

static bool presence(void) { return encodes(1000, "keychain-presence", "alice", ""); }

static enum kc_start_status status(size_t count) {
    return kc_start_request_decode(bytes, count, &request);
}

enum { AUTHENTICATION_SIZE = 572, NUMBERS = 8, FIRST = 0x7b000000 };

static bool is_malformed(void) { return status(AUTHENTICATION_SIZE) == KC_START_MALFORMED; }

// One request of each kind.
static size_t one(int program) {
    static const uint8_t folders[] = "/usr/share/keychain/policies.d\0/etc/keychain/policies.d";
    switch (program) {
    case KC_START_AUTHENTICATION:
        return kc_start_encode_authentication(1000, "keychain-presence", "alice", "", bytes);
    case KC_START_IMPORT: return kc_start_encode_import(1000, 1054, bytes);
    case KC_START_POLICY: return kc_start_encode_policy(folders, sizeof folders, bytes);
    case KC_START_TPM: return kc_start_encode_tpm(1000, KC_START_MAKE, 1 << 7, bytes);
    case KC_START_BIND: return kc_start_encode_bind(1000, bytes);
    case KC_START_ADOPT: return kc_start_encode_adopt(1000, FIRST + 7, bytes);
    case KC_START_END: return kc_start_encode_end(1000, FIRST + 7, bytes);
    default: return kc_start_encode_security_key(1000, KC_START_OPEN, bytes);
    }
}

static bool round_trip(void) {
    HOLDS(presence() && status(AUTHENTICATION_SIZE) == KC_START_OK);
    HOLDS(request.program == KC_START_AUTHENTICATION && request.user == 1000);
    HOLDS(strcmp(request.service, "keychain-presence") == 0);
    HOLDS(strcmp(request.account, "alice") == 0 && request.asker[0] == '\0');
    HOLDS(encodes(0, KC_START_APPROVAL, "ann", "alice"));
    HOLDS(status(AUTHENTICATION_SIZE) == KC_START_OK && strcmp(request.asker, "alice") == 0);
    HOLDS(status(one(KC_START_IMPORT)) == KC_START_OK);
    HOLDS(request.program == KC_START_IMPORT && request.user == 1000 && request.seconds == 1054);
    HOLDS(status(one(KC_START_POLICY)) == KC_START_OK && request.user == 0);
    const char *folder = kc_start_next_folder(&request, NULL);
    HOLDS(folder != NULL && strcmp(folder, "/usr/share/keychain/policies.d") == 0);
    folder = kc_start_next_folder(&request, folder);
    HOLDS(folder != NULL && strcmp(folder, "/etc/keychain/policies.d") == 0);
    HOLDS(kc_start_next_folder(&request, folder) == NULL);
    HOLDS(status(one(KC_START_TPM)) == KC_START_OK);
    HOLDS(request.task == KC_START_MAKE && request.registers == 1 << 7 && request.user == 1000);
    HOLDS(status(one(KC_START_SECURITY_KEY)) == KC_START_OK);
    HOLDS(request.program == KC_START_SECURITY_KEY && request.task == KC_START_OPEN);
    HOLDS(status(one(KC_START_BIND)) == KC_START_OK);
    HOLDS(request.program == KC_START_BIND && request.user == 1000);
    HOLDS(status(one(KC_START_ADOPT)) == KC_START_OK && request.program == KC_START_ADOPT);
    HOLDS(request.user == 1000 && request.number == FIRST + 7);
    HOLDS(status(one(KC_START_END)) == KC_START_OK && request.program == KC_START_END);
    HOLDS(request.user == 1000 && request.number == FIRST + 7);
    return true;
}

static bool layout(void) {
    static const uint8_t head[] = {0x4b, 0x43, 0x53, 0x54, 3, 0, 1, 0, 0xe8, 3, 0, 0};
    HOLDS(presence() && memcmp(bytes, head, sizeof head) == 0);
    HOLDS(memcmp(bytes + FIELDS_AT, "keychain-presence", 18) == 0);
    HOLDS(memcmp(bytes + ACCOUNT_AT, "alice", 6) == 0 && bytes[ASKER_AT] == 0);
    static const uint8_t seconds[] = {0x4b, 0x43, 0x53, 0x54, 3,    0, 2, 0,
                                      0xe8, 3,    0,    0,    0x1e, 4, 0, 0};
    HOLDS(one(KC_START_IMPORT) == sizeof seconds && memcmp(bytes, seconds, sizeof seconds) == 0);
    static const uint8_t registers[] = {0x4b, 0x43, 0x53, 0x54, 3, 0, 4,    0, 0xe8, 3,
                                        0,    0,    1,    0,    0, 0, 0x80, 0, 0,    0};
    HOLDS(one(KC_START_TPM) == sizeof registers);
    HOLDS(memcmp(bytes, registers, sizeof registers) == 0);
    static const uint8_t task[] = {0x4b, 0x43, 0x53, 0x54, 3, 0, 5, 0, 0xe8, 3, 0, 0, 2, 0, 0, 0};
    HOLDS(one(KC_START_SECURITY_KEY) == sizeof task && memcmp(bytes, task, sizeof task) == 0);
    static const uint8_t bind[] = {0x4b, 0x43, 0x53, 0x54, 3, 0, 6, 0, 0xe8, 3, 0, 0};
    HOLDS(one(KC_START_BIND) == sizeof bind && memcmp(bytes, bind, sizeof bind) == 0);
    static const uint8_t adopt[] = {0x4b, 0x43, 0x53, 0x54, 3, 0, 7, 0,
                                    0xe8, 3,    0,    0,    7, 0, 0, 0x7b};
    HOLDS(one(KC_START_ADOPT) == sizeof adopt && memcmp(bytes, adopt, sizeof adopt) == 0);
    HOLDS(one(KC_START_END) == sizeof adopt && bytes[PROGRAM_AT] == 8);
    HOLDS(memcmp(bytes + 8, adopt + 8, sizeof adopt - 8) == 0);
    HOLDS(one(KC_START_POLICY) == KC_START_REQUEST_MAX && bytes[PROGRAM_AT] == 3);
    HOLDS(memcmp(bytes + FIELDS_AT, "/usr/share/keychain/policies.d\0/etc", 35) == 0);
    return true;
}

static bool other_sizes(void) {
    for (int program = 1; program <= NUMBERS; program++) {
        size_t size = one(program);
        HOLDS(size > 0);
        for (size_t count = 0; count <= sizeof bytes; count++) {
            HOLDS((status(count) == KC_START_OK) == (count == size));
            HOLDS((int)request.program == (count == size ? program : 0));
        }
    }
    return true;
}

static bool other_heads(void) {
    for (size_t index = 0; index < 4; index++) {
        HOLDS(presence());
        bytes[index] ^= 1;
        HOLDS(is_malformed());
    }
    for (unsigned version = 0; version < 5; version++) {
        HOLDS(presence());
        bytes[VERSION_AT] = (uint8_t)version;
        HOLDS(status(AUTHENTICATION_SIZE) == (version == 3 ? KC_START_OK : KC_START_FOREIGN));
        // Its size is that version's own business.
        HOLDS(version == 3 || status(KC_START_REPLY_SIZE) == KC_START_FOREIGN);
    }
    return true;
}

static bool other_programs(void) {
    for (int program = 1; program <= NUMBERS; program++) {
        size_t size = one(program);
        for (unsigned other = 0; other < 0x10000; other++) {
            bytes[PROGRAM_AT] = (uint8_t)other;
            bytes[PROGRAM_AT + 1] = (uint8_t)(other >> 8);
            // Those have one size, and a task is a number of seconds, too.
            bool has_number = program == KC_START_ADOPT || program == KC_START_END;
            bool is_same = (int)other == program ||
                           (program == KC_START_SECURITY_KEY && other == KC_START_IMPORT) ||
                           (has_number && (other == KC_START_ADOPT || other == KC_START_END));
            HOLDS((status(size) == KC_START_OK) == is_same);
        }
    }
    return true;
}

static bool no_user(void) {
    HOLDS(!encodes(UINT32_MAX, "keychain-presence", "alice", ""));
    HOLDS(encodes(UINT32_MAX - 1, "keychain-presence", "alice", ""));
    HOLDS(kc_start_encode_import(UINT32_MAX, 30, bytes) == 0);
    HOLDS(kc_start_encode_tpm(UINT32_MAX, KC_START_OPEN, 0, bytes) == 0);
    HOLDS(kc_start_encode_security_key(UINT32_MAX, KC_START_OPEN, bytes) == 0);
    HOLDS(kc_start_encode_bind(UINT32_MAX, bytes) == 0);
    HOLDS(kc_start_encode_adopt(UINT32_MAX, FIRST, bytes) == 0);
    HOLDS(kc_start_encode_bind(0, bytes) > 0 && kc_start_encode_adopt(0, FIRST, bytes) > 0);
    // Policies are root's.
    size_t size = one(KC_START_POLICY);
    bytes[8] = 1;
    HOLDS(status(size) == KC_START_MALFORMED);
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
    static const size_t ends[] = {ACCOUNT_AT, ASKER_AT, AUTHENTICATION_SIZE};
    static const size_t begins[] = {FIELDS_AT, ACCOUNT_AT, ASKER_AT};
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

static bool seconds(void) {
    HOLDS(kc_start_encode_import(1000, 0, bytes) == 0);
    HOLDS(kc_start_encode_import(1000, 1, bytes) > 0);
    HOLDS(kc_start_encode_import(1000, KC_START_SECONDS_MAX, bytes) > 0);
    HOLDS(kc_start_encode_import(1000, KC_START_SECONDS_MAX + 1, bytes) == 0);
    return true;
}

static bool tasks(void) {
    for (int task = 0; task <= 3; task++) {
        bool known = task == KC_START_MAKE || task == KC_START_OPEN;
        HOLDS((kc_start_encode_tpm(0, (enum kc_start_task)task, 0, bytes) > 0) == known);
        HOLDS((kc_start_encode_security_key(0, (enum kc_start_task)task, bytes) > 0) == known);
    }
    HOLDS(kc_start_encode_tpm(0, KC_START_MAKE, 0xffffff, bytes) > 0);
    HOLDS(kc_start_encode_tpm(0, KC_START_MAKE, 0x1000000, bytes) == 0);
    // What opens takes the registers from what was sealed.
    HOLDS(kc_start_encode_tpm(0, KC_START_OPEN, 1, bytes) == 0);
    return true;
}

static bool numbers(void) {
    static const uint32_t others[] = {0, 1000, FIRST - 1, FIRST + 65536, UINT32_MAX};
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++)
        HOLDS(kc_start_encode_adopt(1000, others[index], bytes) == 0 &&
              kc_start_encode_end(1000, others[index], bytes) == 0);
    HOLDS(kc_start_encode_adopt(1000, FIRST, bytes) > 0);
    HOLDS(kc_start_encode_adopt(1000, FIRST + 65535, bytes) > 0);
    return true;
}

static size_t encoded(const char *folders, size_t count) {
    return kc_start_encode_policy((const uint8_t *)folders, count, bytes);
}

static bool other_folders(void) {
    HOLDS(encoded(NULL, 0) > 0 && encoded("/", 2) > 0 && encoded("/a\0/b", 6) > 0);
    HOLDS(encoded("a", 2) == 0 && encoded("/a\0b", 5) == 0 && encoded("/a\nb", 5) == 0);
    // An empty path would end the list, and another would follow.
    HOLDS(encoded("\0/a", 4) == 0 && encoded("/a\0\0/b", 7) == 0);
    HOLDS(encoded("/a\0/b\0/c\0/d\0/e\0/f\0/g\0/h", 24) > 0);
    HOLDS(encoded("/a\0/b\0/c\0/d\0/e\0/f\0/g\0/h\0/i", 27) == 0);
    return true;
}

static bool long_folders(void) {
    static char folders[KC_START_FOLDERS_SIZE + 1];
    memset(folders, 'a', sizeof folders);
    for (size_t number = 0; number < KC_START_FOLDERS_MAX; number++) {
        folders[number * KC_START_FOLDER_SIZE] = '/';
        folders[(number + 1) * KC_START_FOLDER_SIZE - 1] = '\0';
    }
    HOLDS(encoded(folders, KC_START_FOLDERS_SIZE) > 0);
    HOLDS(encoded(folders, KC_START_FOLDERS_SIZE + 1) == 0);
    folders[KC_START_FOLDERS_SIZE - 1] = 'a';
    HOLDS(encoded(folders, KC_START_FOLDERS_SIZE) == 0);
    // One byte more than a path may have.
    folders[KC_START_FOLDER_SIZE - 1] = 'a';
    folders[KC_START_FOLDER_SIZE] = '\0';
    HOLDS(encoded(folders, KC_START_FOLDER_SIZE + 1) == 0);
    return true;
}

static bool replies(void) {
    uint8_t reply[KC_START_REPLY_SIZE];
    enum kc_start_word word;
    uint32_t how;
    static const enum kc_start_word words[] = {
        KC_START_STARTED,       KC_START_ENDED,          KC_START_DONE,
        KC_START_BAD_REQUEST,   KC_START_OTHER_VERSION,  KC_START_NOT_ALLOWED,
        KC_START_NO_SERVICE,    KC_START_BUSY,           KC_START_FAILED,
        KC_START_NOT_INSTALLED, KC_START_FOREIGN_FOLDER,
    };
    for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
        kc_start_reply_encode(words[index], 0, reply);
        HOLDS(kc_start_reply_decode(reply, sizeof reply, &word, &how) == KC_START_OK);
        HOLDS(word == words[index] && how == 0);
        HOLDS(kc_start_reply_decode(reply, sizeof reply - 1, &word, &how) == KC_START_MALFORMED);
    }
    for (unsigned other = 0; other < 0x10000; other++) {
        reply[6] = (uint8_t)other;
        reply[7] = (uint8_t)(other >> 8);
        bool known = (other >= 1 && other <= 3) || (other >= 0x8001 && other <= 0x8008);
        HOLDS((kc_start_reply_decode(reply, sizeof reply, &word, &how) == KC_START_OK) == known);
    }
    reply[VERSION_AT] = 1;
    HOLDS(kc_start_reply_decode(reply, sizeof reply, &word, &how) == KC_START_FOREIGN);
    return true;
}

static bool ends(void) {
    uint8_t reply[KC_START_REPLY_SIZE];
    enum kc_start_word word;
    uint32_t how;
    for (uint32_t code = 0; code <= KC_START_BY_SIGNAL + 1; code++) {
        kc_start_reply_encode(KC_START_ENDED, code, reply);
        bool known = code <= KC_START_BY_SIGNAL;
        HOLDS((kc_start_reply_decode(reply, sizeof reply, &word, &how) == KC_START_OK) == known);
        HOLDS(!known || how == code);
    }
    kc_start_reply_encode(KC_START_STARTED, 1, reply);
    HOLDS(kc_start_reply_decode(reply, sizeof reply, &word, &how) == KC_START_MALFORMED);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"a request is read as it was written", round_trip},
        {"the layout is that of the header's picture", layout},
        {"a request of another size is refused", other_sizes},
        {"a request with another head is refused, and of another version told apart", other_heads},
        {"a number that is no request's is refused", other_programs},
        {"a request of no user is refused, and one for policies is root's", no_user},
        {"only services of the product are asked", other_services},
        {"a name is a text without control characters, and no longer than its field", other_names},
        {"a field ends, and zeros follow", fields_without_an_end},
        {"an approval has another person as asker, and nothing else has one", askers},
        {"a file is read for a second at least and a day at most", seconds},
        {"a TPM and a security key make or open, and a TPM has 24 registers", tasks},
        {"only a number of the range is given folders, and has processes ended", numbers},
        {"folders are absolute paths without control characters, and eight at most", other_folders},
        {"a folder's path and all of them have a length", long_folders},
        {"a reply is one of eleven words", replies},
        {"an end has an exit code or a signal, and no other word has either", ends},
    };
    return RUN(tests);
}
