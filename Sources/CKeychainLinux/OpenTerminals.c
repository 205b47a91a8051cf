// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t kc_monotonic_time(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// As in the field tty_nr of /proc/PID/stat.
static uint32_t encoded(uint32_t major, uint32_t minor) {
    return (minor & 0xFF) | major << 8 | (minor & ~0xFFU) << 12;
}

// Without asking a file system that another program serves, or a server of the network.
static int look(int folder, const char *name, int follow, struct statx *status) {
    int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | (follow ? 0 : AT_SYMLINK_NOFOLLOW);
    return statx(folder, name, flags, STATX_TYPE | STATX_MODE | STATX_UID, status);
}

static int add(struct kc_open_device device, struct kc_open_device *found, int count, int most) {
    for (int i = 0; i < count; i++) {
        if (found[i].file_system == device.file_system && found[i].user == device.user &&
            found[i].readable == device.readable) {
            return count;
        }
    }
    if (count == most) return -1;
    found[count] = device;
    return count + 1;
}

int kc_find_device(int folder, uint32_t device, struct kc_open_device *found, int most,
                   uint64_t deadline) {
    int files = openat(folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = files < 0 ? NULL : fdopendir(files);
    if (stream == NULL) {
        if (files >= 0) close(files);
        return 0;
    }
    int count = 0;
    unsigned seen = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(stream)) != NULL;) {
        if (++seen % 64 == 0 && kc_monotonic_time() > deadline) {
            count = -2;
            break;
        }
        struct statx file;
        struct statx link;
        if (entry->d_name[0] == '.' || look(files, entry->d_name, 1, &file) != 0 ||
            !S_ISCHR(file.stx_mode) ||
            encoded(file.stx_rdev_major, file.stx_rdev_minor) != device) {
            continue;
        }
        // The link's mode tells for what the file was opened.
        int readable = look(files, entry->d_name, 0, &link) == 0 && (link.stx_mode & S_IRUSR) != 0;
        struct kc_open_device one = {(uint64_t)file.stx_dev_major << 32 | file.stx_dev_minor,
                                     file.stx_uid, readable};
        count = add(one, found, count, most);
    }
    closedir(stream);
    return count;
}

int kc_share_files(pid_t one, pid_t other) {
    return syscall(SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0;
}

int kc_is_in_namespace_of(int folder, uint32_t user) {
    const unsigned long parent = _IO(0xB7, 0x2);
    const unsigned long owner = _IO(0xB7, 0x4);
    const int deepest = 33;
    struct stat own;
    struct stat theirs;
    if (stat("/proc/self/ns/user", &own) != 0 || fstatat(folder, "ns/user", &theirs, 0) != 0 ||
        own.st_ino == theirs.st_ino) {
        return 0;
    }
    int space = openat(folder, "ns/user", O_RDONLY | O_CLOEXEC);
    int is = 0;
    for (int depth = 0; space >= 0 && depth < deepest && !is; depth++) {
        uid_t made = 0;
        is = ioctl(space, owner, &made) == 0 && made == user;
        // Refused at a namespace that is not below this process's own.
        int outer = ioctl(space, parent);
        close(space);
        space = outer;
    }
    if (space >= 0) close(space);
    return is;
}
