// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *read_one(const char *argument, struct kc_options *options) {
    const char *arguments[] = {argument};
    return kc_options_read(1, arguments, options);
}

static bool defaults(void) {
    struct kc_options options;
    HOLDS(kc_options_read(0, NULL, &options) == NULL);
    HOLDS(!options.debug && !options.required && !options.strict && !options.unlock);
    HOLDS(options.min_uid == 1000 && options.timeout_ms == 2000);
    HOLDS(strcmp(options.socket, "/run/keychain/login.sock") == 0);
    return true;
}

static bool everything(void) {
    const char *arguments[] = {"debug",        "required",      "strict",         "unlock",
                               "min_uid=1234", "timeout_ms=50", "socket=/run/x/y"};
    struct kc_options options;
    HOLDS(kc_options_read(7, arguments, &options) == NULL);
    HOLDS(options.debug && options.required && options.strict && options.unlock);
    HOLDS(options.min_uid == 1234 && options.timeout_ms == 50);
    HOLDS(strcmp(options.socket, "/run/x/y") == 0);
    return true;
}

static bool unknown(void) {
    const char *wrong[] = {"",
                           "Debug",
                           "debug ",
                           "debugging",
                           "debug=1",
                           "use_first_pass",
                           "min_uid",
                           "min_uid=",
                           "min_uid=-1",
                           "min_uid=+1",
                           "min_uid= 1",
                           "min_uid=1k",
                           "min_uid=0x10",
                           "min_uid=4294967295",
                           "min_uid=99999999999999999999999999",
                           "timeout_ms=0",
                           "timeout_ms=2001",
                           "socket=",
                           "socket=/",
                           "socket=run/login.sock",
                           "socket=/run/keychain/",
                           "socket"};
    struct kc_options options;
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        if (read_one(wrong[index], &options) != wrong[index]) {
            fprintf(stderr, "accepted: %s\n", wrong[index]);
            return false;
        }
    }
    HOLDS(read_one("min_uid=0", &options) == NULL && options.min_uid == 0);
    HOLDS(read_one("min_uid=4294967294", &options) == NULL);
    return true;
}

static bool repeated(void) {
    const char *pairs[][2] = {{"debug", "debug"},
                              {"unlock", "unlock"},
                              {"min_uid=1", "min_uid=1"},
                              {"timeout_ms=1", "timeout_ms=2"},
                              {"socket=/a/b", "socket=/a/b"}};
    struct kc_options options;
    for (size_t index = 0; index < sizeof pairs / sizeof pairs[0]; index++) {
        HOLDS(kc_options_read(2, pairs[index], &options) == pairs[index][1]);
    }
    return true;
}

static bool long_path(void) {
    char argument[KC_SOCKET_PATH_MAX + 16] = "socket=";
    struct kc_options options;
    size_t start = strlen(argument);
    memset(argument + start, 'a', KC_SOCKET_PATH_MAX);
    argument[start] = '/';
    HOLDS(read_one(argument, &options) == NULL);
    argument[start + KC_SOCKET_PATH_MAX] = 'a';
    HOLDS(read_one(argument, &options) == argument);
    return true;
}

static bool fuzz(void) {
    static const char *words[] = {"debug", "min_uid=", "timeout_ms=", "socket=/", "=", "9", "x"};
    uint32_t state = 0x2545f491;
    for (int round = 0; round < 100000; round++) {
        char text[64] = "";
        for (int part = 0; part < 4; part++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            if (state % 3 == 0) {
                size_t end = strlen(text);
                text[end] = (char)(1 + state % 255);
                text[end + 1] = '\0';
            } else {
                strcat(text, words[state % (sizeof words / sizeof words[0])]);
            }
        }
        // On memory of its own length, for the sanitizer.
        char *copy = strdup(text);
        struct kc_options options;
        const char *fault = read_one(copy, &options);
        HOLDS(fault == NULL || fault == copy);
        HOLDS(fault != NULL || (options.timeout_ms >= 1 && options.timeout_ms <= 2000));
        free(copy);
    }
    return true;
}

int main(void) {
    const struct test tests[] = {
        {"options: none are the defaults", defaults},
        {"options: each is understood", everything},
        {"options: an unknown or senseless one is a fault", unknown},
        {"options: a repeated one is a fault", repeated},
        {"options: a path as long as a socket's is the longest", long_path},
        {"options: 100,000 random ones break nothing", fuzz},
    };
    return RUN(tests);
}
