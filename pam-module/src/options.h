// SPDX-License-Identifier: Apache-2.0
#ifndef KC_OPTIONS_H
#define KC_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#define KC_DEFAULT_SOCKET "/run/keychain/login.sock"
#define KC_SOCKET_PATH_MAX 107
#define KC_DEFAULT_MIN_UID 1000
// The longest exchange that a login waits for, in ms.
#define KC_MAX_TIMEOUT_MS 2000

// The options after the module's name in a line of a PAM service.
struct kc_options {
    bool debug;
    bool required;
    bool strict;
    bool unlock;
    uid_t min_uid;
    int timeout_ms;
    // Belongs to PAM, like every argument.
    const char *socket;
};

// Reads the arguments. Returns NULL, or the first argument that is unknown, repeated or senseless:
// the module then does nothing at all, as guessing at a configuration is dangerous.
const char *kc_options_read(int argc, const char **argv, struct kc_options *options);

#endif
