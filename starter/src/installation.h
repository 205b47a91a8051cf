// SPDX-License-Identifier: Apache-2.0
#ifndef KC_INSTALLATION_H
#define KC_INSTALLATION_H

#include <limits.h>
#include <stdbool.h>

// The programs of the same installation as this one.
struct kc_installation {
    char authentication[PATH_MAX];
    char daemon[PATH_MAX];
};

// Finds them by the path of this very program, which ends in libexec/keychain/ and its name.
bool kc_installation_find(struct kc_installation *installation, const char *own_name);

// Whether the path leads to a regular file, and the file and every folder above it are root's and
// writable for no other user.
bool kc_is_roots_alone(const char *path);

// Whether PAM has a file for the service. Without one PAM would use its service `other`.
bool kc_has_service(const char *service);

#endif
