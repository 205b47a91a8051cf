// SPDX-License-Identifier: Apache-2.0
#include "trusted_socket.h"

#include "descriptor.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char offer_name[] = "offer.sock";

static bool is_roots_folder(int folder) {
    struct stat facts;
    if (fstat(folder, &facts) != 0) return false;
    // A sticky folder is refused too: a user who may create files in it could create the socket
    // first. An ACL that lets another user write shows in the group's bits.
    if (S_ISDIR(facts.st_mode) && facts.st_uid == 0 && (facts.st_mode & 022) == 0) return true;
    errno = EPERM;
    return false;
}

static bool is_roots_socket(int file, enum kc_door door) {
    struct stat facts;
    if (fstat(file, &facts) != 0) return false;
    bool is_private = (facts.st_mode & 0077) == 0;
    if (S_ISSOCK(facts.st_mode) && facts.st_uid == 0 && (is_private || door == KC_DOOR_OFFER)) {
        return true;
    }
    errno = EPERM;
    return false;
}

// Opens the folder `name` in `parent`, and closes `parent`.
static int step(int parent, const char *name) {
    int folder = -1;
    if (strcmp(name, "") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        errno = EINVAL;
        goto done;
    }
    folder = kc_above_standard(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder >= 0 && !is_roots_folder(folder)) {
        kc_close(folder);
        folder = -1;
    }
done:
    kc_close(parent);
    return folder;
}

// Opens the folder of the path's last part, and cuts the path's text; `*name` is the last part.
static int walk(char *path, const char **name) {
    int folder = kc_above_standard(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder >= 0 && !is_roots_folder(folder)) {
        kc_close(folder);
        return -1;
    }
    char *part = path + 1;
    char *slash;
    while (folder >= 0 && (slash = strchr(part, '/')) != NULL) {
        *slash = '\0';
        folder = step(folder, part);
        part = slash + 1;
    }
    *name = part;
    return folder;
}

int kc_trusted_socket(const char *path, enum kc_door door) {
    char text[KC_SOCKET_PATH_MAX + 1];
    const char *name = NULL;
    size_t count = strnlen(path, sizeof text);
    if (count >= sizeof text || path[0] != '/') {
        errno = EINVAL;
        return -1;
    }
    memcpy(text, path, count + 1);
    int folder = walk(text, &name);
    if (folder < 0) return -1;
    if (door == KC_DOOR_OFFER) name = offer_name;
    int file = kc_above_standard(openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    kc_close(folder);
    if (file >= 0 && !is_roots_socket(file, door)) {
        kc_close(file);
        return -1;
    }
    return file;
}
