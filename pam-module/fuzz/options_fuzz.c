// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a PAM line: the input's lines, each on memory of its exact length.
#include "fuzz.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 16

static int split(const uint8_t *bytes, size_t count, const char **arguments) {
    int found = 0;
    while (count > 0 && found < MOST_ARGUMENTS) {
        const uint8_t *end = memchr(bytes, '\n', count);
        size_t length = end == NULL ? count : (size_t)(end - bytes);
        char *text = malloc(length + 1);
        REQUIRE(text != NULL);
        memcpy(text, bytes, length);
        text[length] = '\0';
        arguments[found++] = text;
        if (end == NULL) break;
        bytes += length + 1;
        count -= length + 1;
    }
    return found;
}

static bool stands_among(const char *fault, const char **arguments, int count) {
    for (int index = 0; index < count; index++) {
        if (arguments[index] == fault) return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const char *arguments[MOST_ARGUMENTS];
    struct kc_options options;
    int found = split(bytes, count, arguments);
    const char *fault = kc_options_read(found, arguments, &options);
    REQUIRE(options.timeout_ms >= 1 && options.timeout_ms <= KC_MAX_TIMEOUT_MS);
    REQUIRE(options.min_uid != (uid_t)-1);
    REQUIRE(options.socket[0] == '/' && strlen(options.socket) <= KC_SOCKET_PATH_MAX);
    REQUIRE(fault == NULL || stands_among(fault, arguments, found));
    // An argument that is accepted once must be refused when it is repeated.
    if (fault == NULL && found > 0 && found < MOST_ARGUMENTS) {
        arguments[found] = arguments[0];
        REQUIRE(kc_options_read(found + 1, arguments, &options) == arguments[found]);
    }
    for (int index = 0; index < found; index++)
        free((void *)(uintptr_t)arguments[index]);
    return 0;
}
