// SPDX-License-Identifier: Apache-2.0
// What the anchors share: time, percentiles, pinning, and the exchange that a read is.
#ifndef ANCHOR_H
#define ANCHOR_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Of the frames of a read, as a trace of the daemon shows them: a header of 40 bytes and the
// message; in the answer the secret of 24 bytes besides.
enum { REQUEST_BYTES = 84, ANSWER_BYTES = 98 };

// The tables of a keychain that a read meets and an add writes; the same pages and indexes.
#define KEYCHAIN_TABLES                                                                            \
    "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;"                                          \
    "CREATE TABLE item (id INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE,"                  \
    " class INTEGER NOT NULL, accessible INTEGER NOT NULL, generation INTEGER NOT NULL,"           \
    " keyIndex BLOB NOT NULL UNIQUE, tokens BLOB NOT NULL, attributes BLOB NOT NULL, secret BLOB)" \
    " STRICT;"                                                                                     \
    "CREATE TABLE token (token INTEGER NOT NULL, item INTEGER NOT NULL,"                           \
    " PRIMARY KEY (token, item)) STRICT, WITHOUT ROWID;"

static inline double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline void fail(const char *what) {
    perror(what);
    exit(1);
}

static inline void check(int holds, const char *what) {
    if (!holds) fail(what);
}

static inline int before(const void *left, const void *right) {
    double first = *(const double *)left, second = *(const double *)right;
    return (first > second) - (first < second);
}

// One line of JSON, as keychain-bench prints it. Sorts the times.
static inline void report(const char *name, double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, before);
    printf("{\"name\": \"%s\", \"count\": %d, \"p10_us\": %.3f, \"p50_us\": %.3f, "
           "\"p90_us\": %.3f, \"p99_us\": %.3f}\n",
           name, count, times[count / 10], times[count / 2], times[count * 9 / 10],
           times[count * 99 / 100]);
}

static inline void pin(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    check(sched_setaffinity(0, sizeof cores, &cores) == 0, "sched_setaffinity");
}

// Receives a request as the daemon does: with its sender's credentials, which must be there.
static inline ssize_t receive_request(int socket, void *buffer, size_t size, struct ucred *sender) {
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    char control[CMSG_SPACE(sizeof(struct ucred))];
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count <= 0) return count;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_CREDENTIALS) exit(1);
    memcpy(sender, CMSG_DATA(header), sizeof *sender);
    return count;
}

// One request; what the answer holds is the server's.
static inline void ask_once(int socket) {
    char request[REQUEST_BYTES] = {1}, answer[256];
    struct iovec part = {.iov_base = request, .iov_len = sizeof request};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    check(sendmsg(socket, &message, MSG_NOSIGNAL) == REQUEST_BYTES, "sendmsg");
    check(recv(socket, answer, sizeof answer, 0) == ANSWER_BYTES, "recv");
}

// `count` of them, one after the other.
static inline void ask(int socket, const char *name, int count) {
    double *times = malloc(sizeof *times * (size_t)count);
    check(times != NULL, "malloc");
    for (int i = -count / 10; i < count; i++) {
        double began = microseconds();
        ask_once(socket);
        if (i >= 0) times[i] = microseconds() - began;
    }
    report(name, times, count);
    free(times);
}

static inline void connect_pair(int ends[2]) {
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    int on = 1;
    check(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0, "SO_PASSCRED");
}

#endif
