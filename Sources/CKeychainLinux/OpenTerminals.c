// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
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
static int look(int folder, const char *name, struct statx *status) {
    int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    return statx(folder, name, flags, STATX_TYPE | STATX_UID, status);
}

// /dev/tty: for each process that opens it, the terminal that controls the process.
static int is_own_terminal(const struct statx *file) {
    return S_ISCHR(file->stx_mode) && file->stx_rdev_major == 5 && file->stx_rdev_minor == 0;
}

// The terminal behind a thread's descriptor of /dev/tty, which that file does not tell; 0 where no
// process may look (Yama's ptrace_scope 3). Before Linux 6.9 a descriptor that a single thread has
// counts as that of `device`.
static uint32_t terminal_behind(pid_t thread, const char *descriptor, uint32_t device) {
    // PIDFD_THREAD, which older headers lack.
    int owner = (int)syscall(SYS_pidfd_open, thread, O_EXCL);
    if (owner < 0 && errno == EINVAL) {
        owner = kc_pidfd_open(thread);
        if (owner < 0 && errno == EINVAL) return device;
    }
    if (owner < 0) return 0;
    int copy = (int)syscall(SYS_pidfd_getfd, owner, atoi(descriptor), 0);
    close(owner);
    if (copy < 0) return 0;
    struct statx file;
    unsigned found = 0;
    if (look(copy, "", &file) != 0 || !is_own_terminal(&file)) {
        // Another file by now, whose server no call here may wait for.
        kc_close_passed(copy);
        return 0;
    }
    if (ioctl(copy, TIOCGDEV, &found) != 0) found = 0;
    close(copy);
    return found;
}

static int add(struct kc_open_device device, struct kc_open_device *found, int count, int most) {
    for (int i = 0; i < count; i++) {
        if (found[i].file_system == device.file_system && found[i].user == device.user &&
            found[i].is_indirect == device.is_indirect) {
            return count;
        }
    }
    if (count == most) return -1;
    found[count] = device;
    return count + 1;
}

int kc_find_device(int folder, pid_t thread, uint32_t device, struct kc_open_device *found,
                   int most, uint64_t deadline) {
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
        if (entry->d_name[0] == '.' || look(files, entry->d_name, &file) != 0 ||
            !S_ISCHR(file.stx_mode)) {
            continue;
        }
        int is_indirect = is_own_terminal(&file);
        uint32_t terminal = is_indirect ? terminal_behind(thread, entry->d_name, device)
                                        : encoded(file.stx_rdev_major, file.stx_rdev_minor);
        if (terminal != device) continue;
        struct kc_open_device one = {(uint64_t)file.stx_dev_major << 32 | file.stx_dev_minor,
                                     file.stx_uid, is_indirect};
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
