// SPDX-License-Identifier: Apache-2.0
#include "descriptors.h"

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NONE = -1 };

// Whether the descriptor is of this kind and of no other; NONE is no kind. Closes it.
static bool is_only(int descriptor, int expected) {
    HOLDS(descriptor >= 0);
    for (int kind = KC_CONVERSATION; kind <= KC_PROCESS; kind++)
        HOLDS(kc_descriptor_is(descriptor, (enum kc_descriptor_kind)kind) == (kind == expected));
    close(descriptor);
    return true;
}

static int one_of_pair(int domain, int type) {
    int pair[2];
    if (socketpair(domain, type, 0, pair) != 0) return -1;
    close(pair[1]);
    return pair[0];
}

static bool sockets(void) {
    HOLDS(is_only(one_of_pair(AF_UNIX, SOCK_SEQPACKET), KC_CONVERSATION));
    HOLDS(is_only(one_of_pair(AF_UNIX, SOCK_STREAM), NONE));
    HOLDS(is_only(one_of_pair(AF_UNIX, SOCK_DGRAM), NONE));
    HOLDS(is_only(socket(AF_INET, SOCK_STREAM, 0), NONE));
    return true;
}

static bool files(void) {
    char path[] = "/tmp/keychain-descriptors-XXXXXX";
    int made = mkstemp(path);
    int again[] = {open(path, O_RDONLY), open(path, O_WRONLY), open(path, O_PATH)};
    (void)unlink(path);
    HOLDS(is_only(again[0], KC_FILE_TO_READ) && is_only(again[1], NONE));
    // What it may also write to is no file to read.
    HOLDS(is_only(made, NONE) && is_only(again[2], NONE));
    HOLDS(is_only(open("/dev/null", O_RDONLY), NONE));
    return true;
}

static bool pipes(void) {
    int ends[2];
    HOLDS(pipe(ends) == 0);
    HOLDS(is_only(ends[0], NONE) && is_only(ends[1], KC_PIPE_TO_WRITE));
    HOLDS(is_only(open("/dev/null", O_WRONLY), NONE));
    return true;
}

static bool folders(void) {
    HOLDS(is_only(open("/", O_RDONLY | O_DIRECTORY), KC_FOLDER_OF_ROOT));
    HOLDS(is_only(open("/", O_PATH | O_DIRECTORY), NONE));
    // It is root's, and others may write to it.
    HOLDS(is_only(open("/tmp", O_RDONLY | O_DIRECTORY), NONE));
    char path[] = "/tmp/keychain-descriptors-XXXXXX";
    HOLDS(mkdtemp(path) != NULL);
    bool is_roots = geteuid() == 0;
    bool held = is_only(open(path, O_RDONLY | O_DIRECTORY), is_roots ? KC_FOLDER_OF_ROOT : NONE) &&
                chmod(path, 0770) == 0 && is_only(open(path, O_RDONLY | O_DIRECTORY), NONE) &&
                chmod(path, 0700) == 0 && (!is_roots || chown(path, 1, 0) == 0) &&
                is_only(open(path, O_RDONLY | O_DIRECTORY), NONE);
    (void)rmdir(path);
    return held;
}

static bool processes(void) {
    HOLDS(is_only((int)syscall(SYS_pidfd_open, getpid(), 0), KC_PROCESS));
    HOLDS(is_only(open("/proc/self/status", O_RDONLY), KC_FILE_TO_READ));
    return true;
}

static bool nothing(void) {
    for (int kind = KC_CONVERSATION; kind <= KC_PROCESS; kind++)
        HOLDS(!kc_descriptor_is(-1, (enum kc_descriptor_kind)kind));
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"a conversation is a Unix socket that keeps the bounds of messages", sockets},
        {"a file to read is regular, and open for reading alone", files},
        {"a pipe to write is a pipe, and open for writing alone", pipes},
        {"a folder of root's is one that no other user may write to", folders},
        {"a process is a pidfd", processes},
        {"no descriptor is of no kind", nothing},
    };
    return RUN(tests);
}
