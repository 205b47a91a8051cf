// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include "check.h"

#include <string.h>

static uint8_t bytes[KC_START_REQUEST_MAX];
static struct kc_start_request request;
static struct kc_arguments arguments;

// Whether the request that was encoded starts its program with these words.
static bool becomes(size_t size, const char *words) {
    char joined[2048] = "";
    HOLDS(size > 0 && kc_start_request_decode(bytes, size, &request) == KC_START_OK);
    kc_arguments_make(&arguments, "P", &request);
    for (size_t index = 0; arguments.list[index] != NULL; index++) {
        if (index > 0) strcat(joined, " ");
        strcat(joined, arguments.list[index]);
    }
    HOLDS(arguments.list[arguments.count] == NULL);
    if (strcmp(joined, words) != 0) fprintf(stderr, "%s\n", joined);
    return strcmp(joined, words) == 0;
}

static bool authentication(void) {
    HOLDS(becomes(kc_start_encode_authentication(1, "keychain-presence", "alice", "", bytes),
                  "P keychain-presence 1 alice"));
    HOLDS(becomes(kc_start_encode_authentication(1, KC_START_APPROVAL, "ann", "alice", bytes),
                  "P keychain-approval 1 ann alice"));
    return true;
}

static bool seconds(void) {
    HOLDS(becomes(kc_start_encode_import(1, 31, bytes), "P 31"));
    HOLDS(becomes(kc_start_encode_import(1, KC_START_SECONDS_MAX, bytes), "P 86400"));
    return true;
}

static bool folders(void) {
    static const uint8_t two[] = "/usr/share/policies.d\0/etc/policies.d";
    HOLDS(becomes(kc_start_encode_policy(two, sizeof two, bytes),
                  "P policy compile --policies /usr/share/policies.d --policies /etc/policies.d"));
    HOLDS(becomes(kc_start_encode_policy(NULL, 0, bytes), "P policy compile"));
    static const uint8_t most[] = "/a\0/b\0/c\0/d\0/e\0/f\0/g\0/h";
    HOLDS(kc_start_encode_policy(most, sizeof most, bytes) > 0);
    HOLDS(becomes(KC_START_REQUEST_MAX,
                  "P policy compile --policies /a --policies /b --policies /c --policies /d "
                  "--policies /e --policies /f --policies /g --policies /h"));
    return true;
}

static bool registers(void) {
    HOLDS(becomes(kc_start_encode_tpm(1, KC_START_MAKE, 1 << 0 | 1 << 11, bytes), "P seal 0 11"));
    HOLDS(becomes(kc_start_encode_tpm(1, KC_START_MAKE, 0, bytes), "P seal"));
    HOLDS(becomes(kc_start_encode_tpm(1, KC_START_MAKE, 0xffffff, bytes),
                  "P seal 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"));
    HOLDS(becomes(kc_start_encode_tpm(1, KC_START_OPEN, 0, bytes), "P open"));
    return true;
}

static bool security_keys(void) {
    HOLDS(becomes(kc_start_encode_security_key(1, KC_START_MAKE, bytes), "P make"));
    HOLDS(becomes(kc_start_encode_security_key(1, KC_START_OPEN, bytes), "P open"));
    return true;
}

static bool table(void) {
    static const char *const names[] = {"keychain-auth", "keychain-import", "keychainctl-policy",
                                        "keychain-tpm", "keychain-fido"};
    int most = 0;
    for (int number = 1; number <= 5; number++) {
        const struct kc_program *program = kc_program_for((enum kc_start_program)number);
        HOLDS(program != NULL && strcmp(program->name, names[number - 1]) == 0);
        HOLDS(program->descriptors >= 1 && program->descriptors <= KC_START_DESCRIPTORS_MAX);
        HOLDS(program->most_of_user >= 1 && program->most_of_user <= program->most);
        // PAM's modules alone need all of root's rights.
        HOLDS(program->keeps_rights == (number == KC_START_AUTHENTICATION));
        HOLDS(program->is_without_backtrace == (number == KC_START_IMPORT));
        most += program->most;
    }
    HOLDS(most == KC_MOST_RUNS);
    HOLDS(kc_program_for((enum kc_start_program)0) == NULL);
    HOLDS(kc_program_for(KC_START_BIND) == NULL && kc_program_for(KC_START_ADOPT) == NULL);
    HOLDS(kc_program_for((enum kc_start_program)8) == NULL);
    return true;
}

static bool backstops(void) {
    static const uint8_t folder[] = "/etc/keychain";
    HOLDS(becomes(kc_start_encode_authentication(1, "keychain-presence", "a", "", bytes),
                  "P keychain-presence 1 a"));
    HOLDS(kc_program_seconds(&request) == 100);
    HOLDS(becomes(kc_start_encode_import(1, 1054, bytes), "P 1054"));
    HOLDS(kc_program_seconds(&request) == 60 + 2 * 1054);
    HOLDS(becomes(kc_start_encode_policy(folder, sizeof folder, bytes),
                  "P policy compile --policies /etc/keychain"));
    HOLDS(kc_program_seconds(&request) > 60);
    HOLDS(becomes(kc_start_encode_tpm(1, KC_START_OPEN, 0, bytes), "P open"));
    // The program's own is 60.
    HOLDS(kc_program_seconds(&request) > 60);
    HOLDS(becomes(kc_start_encode_security_key(1, KC_START_OPEN, bytes), "P open"));
    // The program's own is 90.
    HOLDS(kc_program_seconds(&request) > 90);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"keychain-auth is told the service, the user, the account and an asker", authentication},
        {"keychain-import is told its seconds", seconds},
        {"the compiler is told each folder", folders},
        {"keychain-tpm is told each register once, in order", registers},
        {"keychain-fido is told what to do", security_keys},
        {"each program has its place in the table, and no other number has", table},
        {"a backstop is longer than the other time-outs", backstops},
    };
    return RUN(tests);
}
