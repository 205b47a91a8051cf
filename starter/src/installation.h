// SPDX-License-Identifier: Apache-2.0
#ifndef KC_INSTALLATION_H
#define KC_INSTALLATION_H

#include <limits.h>
#include <stdbool.h>

// The installation that this program belongs to.
struct kc_installation {
    // The folder of the programs that others start.
    char folder[PATH_MAX];
    char daemon[PATH_MAX];
};

// The one that the program at the path belongs to: the path ends in libexec/keychain/ and the name.
bool kc_installation_of(struct kc_installation *installation, const char *program,
                        const char *name);

// The same for this very program.
bool kc_installation_find(struct kc_installation *installation, const char *own_name);

// The path of a program of the folder. False where it is too long.
bool kc_installation_path(const struct kc_installation *installation, const char *name,
                          char path[PATH_MAX]);

// Whether nothing is at the path.
bool kc_is_missing(const char *path);

// Whether the path leads to a regular file, and the file and every folder above it are root's and
// writable for no other user.
bool kc_is_roots_alone(const char *path);

// Whether PAM has a file for the service. Without one PAM would use its service `other`.
bool kc_has_service(const char *service);

#endif
