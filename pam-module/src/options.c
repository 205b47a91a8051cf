// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <stdint.h>
#include <string.h>

enum seen {
    SEEN_DEBUG = 1,
    SEEN_REQUIRED = 2,
    SEEN_STRICT = 4,
    SEEN_UNLOCK = 8,
    SEEN_MIN_UID = 16,
    SEEN_TIMEOUT = 32,
    SEEN_SOCKET = 64,
};

// Digits only: strtoul would also take signs, blanks and the locale's digit groups.
static bool read_number(const char *text, uint32_t largest, uint32_t *number) {
    uint64_t value = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > largest) return false;
    }
    *number = (uint32_t)value;
    return true;
}

static bool is_socket_path(const char *path) {
    size_t count = strnlen(path, KC_SOCKET_PATH_MAX + 1);
    return path[0] == '/' && count > 1 && count <= KC_SOCKET_PATH_MAX && path[count - 1] != '/';
}

// The text after `name=` in the argument; NULL if it is another argument.
static const char *value_of(const char *argument, const char *name) {
    size_t count = strlen(name);
    return strncmp(argument, name, count) == 0 ? argument + count : NULL;
}

static bool read_flag(const char *argument, struct kc_options *options, enum seen *which) {
    struct {
        const char *name;
        bool *flag;
        enum seen which;
    } flags[] = {{"debug", &options->debug, SEEN_DEBUG},
                 {"required", &options->required, SEEN_REQUIRED},
                 {"strict", &options->strict, SEEN_STRICT},
                 {"unlock", &options->unlock, SEEN_UNLOCK}};
    for (size_t index = 0; index < sizeof flags / sizeof flags[0]; index++) {
        if (strcmp(argument, flags[index].name) != 0) continue;
        *flags[index].flag = true;
        *which = flags[index].which;
        return true;
    }
    return false;
}

static bool read_value(const char *argument, struct kc_options *options, enum seen *which) {
    const char *value;
    uint32_t number = 0;
    if ((value = value_of(argument, "min_uid=")) != NULL) {
        // UINT32_MAX means "no user" on every system.
        if (!read_number(value, UINT32_MAX - 1, &number)) return false;
        options->min_uid = number;
        *which = SEEN_MIN_UID;
    } else if ((value = value_of(argument, "timeout_ms=")) != NULL) {
        if (!read_number(value, KC_MAX_TIMEOUT_MS, &number) || number == 0) return false;
        options->timeout_ms = (int)number;
        *which = SEEN_TIMEOUT;
    } else if ((value = value_of(argument, "socket=")) != NULL) {
        if (!is_socket_path(value)) return false;
        options->socket = value;
        *which = SEEN_SOCKET;
    } else {
        return false;
    }
    return true;
}

const char *kc_options_read(int argc, const char **argv, struct kc_options *options) {
    unsigned seen = 0;
    *options = (struct kc_options){
        .min_uid = KC_DEFAULT_MIN_UID,
        .timeout_ms = KC_MAX_TIMEOUT_MS,
        .socket = KC_DEFAULT_SOCKET,
    };
    for (int index = 0; index < argc; index++) {
        enum seen which = 0;
        if (!read_flag(argv[index], options, &which) && !read_value(argv[index], options, &which)) {
            return argv[index];
        }
        if ((seen & which) != 0) return argv[index];
        seen |= which;
    }
    return NULL;
}
