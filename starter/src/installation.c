// SPDX-License-Identifier: Apache-2.0
#include "installation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool kc_installation_of(struct kc_installation *installation, const char *program,
                        const char *name) {
    char place[64];
    (void)snprintf(place, sizeof place, "/libexec/keychain/%s", name);
    size_t count = strlen(program);
    size_t end = strlen(place);
    if (count < end || count >= PATH_MAX / 2) return false;
    int prefix = (int)(count - end);
    if (strcmp(program + prefix, place) != 0) return false;
    (void)snprintf(installation->folder, sizeof installation->folder, "%.*s/libexec/keychain",
                   prefix, program);
    (void)snprintf(installation->daemon, sizeof installation->daemon, "%.*s/sbin/keychaind", prefix,
                   program);
    return true;
}

bool kc_installation_find(struct kc_installation *installation, const char *own_name) {
    char own[PATH_MAX / 2];
    ssize_t count = readlink("/proc/self/exe", own, sizeof own);
    if (count < 0 || count >= (ssize_t)sizeof own) return false;
    own[count] = '\0';
    return kc_installation_of(installation, own, own_name);
}

bool kc_installation_path(const struct kc_installation *installation, const char *name,
                          char path[PATH_MAX]) {
    int count = snprintf(path, PATH_MAX, "%s/%s", installation->folder, name);
    return count > 0 && count < PATH_MAX;
}

bool kc_is_missing(const char *path) {
    struct stat facts;
    return lstat(path, &facts) != 0 && errno == ENOENT;
}

static bool is_closed(const char *path, mode_t kind) {
    struct stat facts;
    return lstat(path, &facts) == 0 && (facts.st_mode & S_IFMT) == kind && facts.st_uid == 0 &&
           (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool kc_is_roots_alone(const char *path) {
    char part[PATH_MAX];
    size_t count = strnlen(path, sizeof part);
    if (path[0] != '/' || count == sizeof part || !is_closed("/", S_IFDIR)) return false;
    memcpy(part, path, count + 1);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool closed = is_closed(part, S_IFDIR);
        *slash = '/';
        if (!closed) return false;
    }
    return is_closed(part, S_IFREG);
}

bool kc_has_service(const char *service) {
    static const char *const folders[] = {"/etc/pam.d", "/usr/lib/pam.d"};
    for (size_t index = 0; index < sizeof folders / sizeof folders[0]; index++) {
        char path[128];
        struct stat facts;
        int count = snprintf(path, sizeof path, "%s/%s", folders[index], service);
        if (count > 0 && (size_t)count < sizeof path && stat(path, &facts) == 0 &&
            S_ISREG(facts.st_mode)) {
            return true;
        }
    }
    return false;
}
