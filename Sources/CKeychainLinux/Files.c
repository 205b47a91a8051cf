// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

int kc_rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    // The file system lacks the call: for a moment the file has two names.
    return link(from, to) == 0 && unlink(from) == 0 ? 0 : -1;
}

int kc_rename_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

uint64_t kc_file_made(const char *path) {
    struct statx facts;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &facts) != 0) {
        return 0;
    }
    return facts.stx_mask & STATX_BTIME && facts.stx_btime.tv_sec > 0
               ? (uint64_t)facts.stx_btime.tv_sec
               : 0;
}

int kc_file_identity(int folder, const char *name, uint64_t *device, uint64_t *inode) {
    struct statx facts;
    // What the kernel knows of the file is enough: to ask its file system could take as long as the
    // user who made that one likes, and no signal ends the wait.
    int flags = AT_STATX_DONT_SYNC | (name[0] == 0 ? AT_EMPTY_PATH : 0);
    if (statx(folder, name, flags, STATX_INO, &facts) != 0) {
        return -1;
    }
    *device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
    *inode = facts.stx_ino;
    return 0;
}

int kc_hold_file(int folder, const char *name) { return openat(folder, name, O_PATH | O_CLOEXEC); }

int kc_open_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int kc_is_mounted_nosuid(const char *path) {
    struct statfs facts;
    // ST_NOSUID (statfs(2)).
    return statfs(path, &facts) != 0 || (facts.f_flags & 2) != 0;
}

int kc_is_automounted(const char *path) {
    struct statfs facts;
    return statfs(path, &facts) != 0 || facts.f_type == AUTOFS_SUPER_MAGIC;
}

int kc_has_access_list(const char *path) {
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}
