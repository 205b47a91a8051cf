// SPDX-License-Identifier: Apache-2.0
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool says(int descriptor, int option, int expected) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

// O_PATH has the access mode of reading, and reads nothing.
static bool is_open(int descriptor, mode_t type, int access) {
    struct stat facts;
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & (O_ACCMODE | O_PATH)) == access &&
           fstat(descriptor, &facts) == 0 && (facts.st_mode & S_IFMT) == type;
}

static bool is_roots(int descriptor) {
    struct stat facts;
    return fstat(descriptor, &facts) == 0 && facts.st_uid == 0 &&
           (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Signal 0 is sent to none.
static bool is_process(int descriptor) {
    return syscall(SYS_pidfd_send_signal, descriptor, 0, NULL, 0) == 0 || errno != EBADF;
}

bool kc_descriptor_is(int descriptor, enum kc_descriptor_kind kind) {
    switch (kind) {
    case KC_CONVERSATION:
        return says(descriptor, SO_DOMAIN, AF_UNIX) && says(descriptor, SO_TYPE, SOCK_SEQPACKET);
    case KC_FILE_TO_READ: return is_open(descriptor, S_IFREG, O_RDONLY);
    case KC_PIPE_TO_WRITE: return is_open(descriptor, S_IFIFO, O_WRONLY);
    case KC_FOLDER_OF_ROOT: return is_open(descriptor, S_IFDIR, O_RDONLY) && is_roots(descriptor);
    case KC_PROCESS: return is_process(descriptor);
    }
    return false;
}
