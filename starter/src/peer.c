// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

// A pidfd of the process that connected. Before Linux 6.5 it is one of the process that has its
// number now.
static int pinned(int connection, pid_t pid) {
    int process = -1;
    socklen_t size = sizeof process;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0) return process;
    return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static bool is_alive(int process) {
    struct pollfd item = {.fd = process, .events = POLLIN};
    return poll(&item, 1, 0) == 0;
}

static bool is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_in(const struct stat *namespace, const char *process) {
    struct stat own;
    return stat(process, &own) == 0 && is_same(namespace, &own);
}

// Whether paths mean the same to the peer as to this process. systemd gives this process a mount
// namespace of its own, in which paths lead to the same files as in the first process's.
static bool shares_mounts(int folder) {
    struct stat theirs;
    return fstatat(folder, "ns/mnt", &theirs, 0) == 0 &&
           (is_in(&theirs, "/proc/self/ns/mnt") || is_in(&theirs, "/proc/1/ns/mnt"));
}

static bool runs(int folder, const char *program) {
    static const char replaced[] = " (deleted)";
    char path[PATH_MAX];
    struct stat running;
    struct stat installed;
    ssize_t count = readlinkat(folder, "exe", path, sizeof path);
    size_t length = strlen(program);
    if (count < (ssize_t)length || count >= (ssize_t)sizeof path) return false;
    path[count] = '\0';
    if (strncmp(path, program, length) != 0) return false;
    if (strcmp(path + length, replaced) == 0) return true;
    return path[length] == '\0' && fstatat(folder, "exe", &running, 0) == 0 &&
           lstat(program, &installed) == 0 && is_same(&running, &installed);
}

bool kc_peer_runs(int connection, const char *program) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    char name[32];
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != 0)
        return false;
    int process = pinned(connection, peer.pid);
    if (process < 0) return false;
    (void)snprintf(name, sizeof name, "/proc/%d", peer.pid);
    int folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    // The process is alive after the folder was opened, so the folder is that process's.
    bool held = folder >= 0 && is_alive(process) && shares_mounts(folder) && runs(folder, program);
    if (folder >= 0) close(folder);
    close(process);
    return held;
}
