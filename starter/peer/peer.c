// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // SwiftPM compiles it, too
#endif
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
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

// Whether the program's folder is the same one to the peer as to this process. systemd gives either
// of them a mount namespace of its own, so the namespaces are not compared.
static bool shares_folder(int folder, const char *program) {
    char here[PATH_MAX];
    char there[PATH_MAX];
    struct stat theirs;
    struct stat ours;
    const char *name = strrchr(program, '/');
    if (name == NULL || name - program >= PATH_MAX) return false;
    int length = (int)(name - program);
    int count = snprintf(here, sizeof here, "%.*s/", length, program);
    // Through this link the kernel looks up names as the peer sees them.
    int seen = snprintf(there, sizeof there, "root%s", here);
    return count > 0 && seen > 0 && (size_t)seen < sizeof there && stat(here, &ours) == 0 &&
           fstatat(folder, there, &theirs, 0) == 0 && is_same(&theirs, &ours);
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

bool kc_peer_runs(int connection, const char *installed) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    char name[32];
    char program[PATH_MAX];
    // As the kernel calls the file: folders of an installation may be links.
    if (realpath(installed, program) == NULL) return false;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != 0)
        return false;
    int process = pinned(connection, peer.pid);
    if (process < 0) return false;
    (void)snprintf(name, sizeof name, "/proc/%d", peer.pid);
    int folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    // The process is alive after the folder was opened, so the folder is that process's.
    bool held =
        folder >= 0 && is_alive(process) && shares_folder(folder, program) && runs(folder, program);
    if (folder >= 0) close(folder);
    close(process);
    return held;
}
