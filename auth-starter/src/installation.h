// SPDX-License-Identifier: Apache-2.0
#ifndef KC_INSTALLATION_H
#define KC_INSTALLATION_H

#include <limits.h>
#include <stdbool.h>

// The programs of the installation that this one is of.
struct kc_installation {
    char authentication[PATH_MAX];
    char daemon[PATH_MAX];
};

// By the path of this very program, which ends in libexec/keychain/keychain-auth-starter.
bool kc_installation_find(struct kc_installation *installation);

// Whether the path leads to a regular file, and every folder above it and the file are root's and
// closed to all others.
bool kc_is_roots_alone(const char *path);

// Whether PAM has a file for the service. Without one it would ask PAM's `other`.
bool kc_has_service(const char *service);

#endif
