// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include "check.h"
#include "request.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char heard[4096];
// The starter's end of a connection, and its peer's.
static int here = -1;
static int there = -1;

static bool connected(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
    here = pair[0];
    there = pair[1];
    return true;
}

static bool hang_up(void) { return close(here) == 0 && close(there) == 0; }

// The request for a program of these tests.
static size_t encoded(enum kc_start_program number, uint8_t *bytes) {
    if (number == KC_START_AUTHENTICATION)
        return kc_start_encode_authentication(1000, "keychain-presence", "alice", "", bytes);
    if (number == KC_START_IMPORT) return kc_start_encode_import(1000, 30, bytes);
    if (number == KC_START_TPM) return kc_start_encode_tpm(1000, KC_START_OPEN, 0, bytes);
    return kc_start_encode_policy(NULL, 0, bytes);
}

static bool send_with(const void *bytes, size_t size, const int *descriptors, size_t count) {
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(item), descriptors, count * sizeof(int));
    return sendmsg(there, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool ask(enum kc_start_program number, const int *descriptors, size_t count) {
    uint8_t bytes[KC_START_REQUEST_MAX];
    size_t size = encoded(number, bytes);
    return size > 0 && send_with(bytes, size, descriptors, count);
}

// The next reply; 0 where there is none.
static enum kc_start_word reply(void) {
    uint8_t bytes[KC_START_REPLY_SIZE];
    enum kc_start_word word = 0;
    uint32_t status = 0;
    ssize_t count = recv(there, bytes, sizeof bytes, 0);
    if (count <= 0) return 0;
    (void)kc_start_reply_decode(bytes, (size_t)count, &word, &status);
    return word;
}

static bool is_readable(int descriptor, int milliseconds) {
    struct pollfd item = {.fd = descriptor, .events = POLLIN};
    return poll(&item, 1, milliseconds) == 1;
}

static uint32_t reaped(int child) {
    (void)is_readable(child, 20000);
    uint32_t status = kc_child_reap(child);
    close(child);
    return status;
}

static void hear(int pipe) {
    size_t count = 0;
    ssize_t more = 0;
    while ((more = read(pipe, heard + count, sizeof heard - 1 - count)) > 0)
        count += (size_t)more;
    heard[count] = '\0';
}

// What the words of a shell come to as this program, which writes to a pipe: its conversation is
// one, too, for these tests. Returns its status.
static uint32_t run(enum kc_start_program number, const char *words, int file) {
    struct kc_program program = *kc_program_for(number);
    const struct kc_arguments arguments = {.list = {"/bin/sh", "-c", words}, .count = 3};
    int ends[2];
    heard[0] = '\0';
    bool converses = program.takes[0].kind == KC_CONVERSATION;
    if (!connected()) return UINT32_MAX;
    if ((converses ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)
                   : pipe2(ends, O_CLOEXEC)) != 0)
        return UINT32_MAX;
    const int given[] = {program.descriptors == 2 ? file : ends[1], ends[1]};
    bool is_asked = ask(number, given, program.descriptors);
    int child = is_asked ? kc_child_start(&program, &arguments, here) : -1;
    close(ends[1]);
    hear(ends[0]);
    close(ends[0]);
    uint32_t status = child >= 0 && reply() == KC_START_STARTED ? reaped(child) : UINT32_MAX;
    return hang_up() ? status : UINT32_MAX;
}

static bool ends(void) {
    HOLDS(run(KC_START_TPM, "exit 0", -1) == 0);
    HOLDS(run(KC_START_TPM, "exit 80", -1) == 80);
    HOLDS(run(KC_START_TPM, "exit 255", -1) == 255);
    HOLDS(run(KC_START_TPM, "kill -9 $$", -1) == KC_START_BY_SIGNAL);
    HOLDS(run(KC_START_TPM, "kill -13 $$", -1) == KC_START_BY_SIGNAL);
    return true;
}

// A subshell is another process, so that the redirection is not among what is looked at.
static bool one_descriptor(void) {
    int other = open("/dev/zero", O_RDONLY); // without O_CLOEXEC
    HOLDS(run(KC_START_POLICY, "cd /proc/$$/fd; (readlink 0 1 2 3) >&3; exit 0", -1) == 0);
    HOLDS(strncmp(heard, "/dev/null\n/dev/null\n/dev/null\npipe:", 35) == 0);
    HOLDS(run(KC_START_POLICY, "cd /proc/$$/fd; (readlink *) >&3; exit 0", -1) == 0);
    close(other);
    HOLDS(strstr(heard, "pipe:") != NULL && strstr(heard, "/dev/zero") == NULL);
    return true;
}

static bool two_descriptors(void) {
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    HOLDS(file >= 0);
    HOLDS(run(KC_START_IMPORT, "cd /proc/$$/fd; readlink 0 1 2 3; exit 0", file) == 0);
    close(file);
    HOLDS(strncmp(heard, "/etc/passwd\npipe:", 17) == 0);
    char *third = strstr(heard, "\n/dev/null\n");
    HOLDS(third != NULL && strlen(third) == 11);
    return true;
}

static bool environment(void) {
    (void)setenv("LD_PRELOAD_TEST", "kept", 1);
    HOLDS(run(KC_START_POLICY, "tr '\\0' '\\n' </proc/$$/environ >&3", -1) == 0);
    HOLDS(heard[0] == '\0');
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    HOLDS(run(KC_START_IMPORT, "tr '\\0' '\\n' </proc/$$/environ", file) == 0);
    close(file);
    HOLDS(strcmp(heard, "SWIFT_BACKTRACE=enable=no\n") == 0);
    return true;
}

static const char *const rights = "grep -E '^(CapBnd|CapPrm|NoNewPrivs)' /proc/$$/status >&3";

static bool few_rights(void) {
    // CAP_SETGID and CAP_SETUID.
    HOLDS(run(KC_START_POLICY, rights, -1) == 0);
    HOLDS(strstr(heard, "CapPrm:\t00000000000000c0\n") != NULL);
    HOLDS(strstr(heard, "CapBnd:\t00000000000000c0\n") != NULL);
    HOLDS(strstr(heard, "NoNewPrivs:\t1\n") != NULL);
    return true;
}

static bool all_rights(void) {
    HOLDS(run(KC_START_AUTHENTICATION, rights, -1) == 0);
    HOLDS(strstr(heard, "CapBnd:\t00000000000000c0\n") == NULL);
    HOLDS(strstr(heard, "NoNewPrivs:\t0\n") != NULL);
    return true;
}

static bool session(void) {
    HOLDS(run(KC_START_POLICY, "cut -d ' ' -f 1,6 /proc/$$/stat >&3", -1) == 0);
    int process = 0;
    int leader = 0;
    HOLDS(sscanf(heard, "%d %d", &process, &leader) == 2 && process == leader);
    return true;
}

// ---- Descriptors that are not what they should be ----------------------------------------------

static bool bad_descriptors(void) {
    const struct kc_program *program = kc_program_for(KC_START_POLICY);
    const struct kc_arguments arguments = {.list = {"/bin/sh", "-c", "exit 0"}, .count = 3};
    HOLDS(connected());
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    HOLDS(null >= 0 && ask(KC_START_POLICY, &null, 1));
    int child = kc_child_start(program, &arguments, here);
    HOLDS(child >= 0 && reply() == KC_START_BAD_REQUEST && reaped(child) == 127);
    // This process has left it to the child.
    HOLDS(!is_readable(here, 0));
    close(null);
    return hang_up();
}

static bool left_where_it_is(void) {
    struct kc_start_request request;
    struct kc_order order;
    HOLDS(connected());
    int ends[2];
    HOLDS(pipe2(ends, O_CLOEXEC) == 0 && ask(KC_START_POLICY, ends + 1, 1) && close(ends[1]) == 0);
    for (int turn = 0; turn < 2; turn++) {
        int next = dup(STDIN_FILENO);
        HOLDS(next >= 0 && close(next) == 0);
        HOLDS(kc_request_look(here, &request) == 0 && request.program == KC_START_POLICY);
        int same = dup(STDIN_FILENO);
        HOLDS(same == next && close(same) == 0);
    }
    HOLDS(kc_order_take(here, &order) == 0 && order.count == 1);
    kc_order_forget(&order);
    HOLDS(kc_request_look(here, &request) == KC_START_BAD_REQUEST);
    close(ends[0]);
    return hang_up();
}

// Both ends of a TCP connection that has more to send than its peer takes, and is set to linger.
static bool lingering(int *sender, int *receiver) {
    static const char much[65536];
    const struct linger patience = {.l_onoff = 1, .l_linger = 60};
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof place;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    HOLDS(listener >= 0 && bind(listener, (struct sockaddr *)&place, sizeof place) == 0);
    HOLDS(listen(listener, 1) == 0);
    HOLDS(getsockname(listener, (struct sockaddr *)&place, &size) == 0);
    HOLDS(connect(*sender, (struct sockaddr *)&place, sizeof place) == 0);
    *receiver = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    HOLDS(*receiver >= 0 && close(listener) == 0);
    while (send(*sender, much, sizeof much, MSG_DONTWAIT) > 0) {
    }
    return setsockopt(*sender, SOL_SOCKET, SO_LINGER, &patience, sizeof patience) == 0;
}

static bool closes_elsewhere(void) {
    int sender = -1;
    int receiver = -1;
    struct timespec begun;
    struct timespec ended;
    HOLDS(connected() && lingering(&sender, &receiver));
    // The child receives the first; behind a message of no bytes it finds no other.
    HOLDS(send_with("x", 1, &sender, 1) && send_with("", 0, &sender, 1));
    HOLDS(send_with("x", 1, &sender, 1) && close(sender) == 0);
    HOLDS(clock_gettime(CLOCK_MONOTONIC, &begun) == 0);
    int child = kc_child_close(here);
    HOLDS(clock_gettime(CLOCK_MONOTONIC, &ended) == 0);
    HOLDS(child >= 0 && ended.tv_sec - begun.tv_sec < 30);
    // It waits for the socket as long as a process may that does not end.
    HOLDS(kc_child_kill(child));
    HOLDS(is_readable(child, 30000) && kc_child_reap(child) == KC_START_BY_SIGNAL);
    close(child);
    HOLDS(close(receiver) == 0);
    return close(there) == 0;
}

static bool hears_replies(void) {
    HOLDS(connected() && send(there, "unread", 6, 0) == 6 && send(there, "unread", 6, 0) == 6);
    kc_reply(here, KC_START_BUSY, 0);
    HOLDS(shutdown(here, SHUT_RDWR) == 0);
    int child = kc_child_close(here);
    HOLDS(child >= 0 && reaped(child) == 0);
    HOLDS(reply() == KC_START_BUSY && recv(there, heard, sizeof heard, 0) == 0);
    return close(there) == 0;
}

// ---- Processes of a number ---------------------------------------------------------------------

enum { NUMBER = 0x7b000007, OTHER = NUMBER + 1 };

// The pidfd of a process that becomes the number's. One that stops others sends that signal to all
// that it may.
static int made_as(uid_t number, bool stops_others) {
    pid_t made = fork();
    if (made == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        bool is_numbers = setresuid(number, number, number) == 0;
        while (is_numbers)
            (void)(stops_others ? kill(-1, SIGSTOP) : pause());
        _exit(1);
    }
    return made < 0 ? -1 : (int)syscall(SYS_pidfd_open, made, 0);
}

static bool is_killed(int process) {
    bool held = is_readable(process, 20000) && kc_child_reap(process) == KC_START_BY_SIGNAL;
    close(process);
    return held;
}

// Whether it ends as the number's within some seconds, in which it becomes that.
static bool is_ended(int process) {
    for (int turn = 0; turn < 2000; turn++) {
        if (kc_child_end(process, NUMBER)) return is_killed(process);
        (void)usleep(5000);
    }
    return false;
}

static bool ends_a_number_s(void) {
    int own = made_as(NUMBER, false);
    int others = made_as(OTHER, false);
    int roots = made_as(0, false);
    HOLDS(own >= 0 && others >= 0 && roots >= 0 && is_ended(own));
    for (int turn = 0; turn < 20; turn++)
        HOLDS(!kc_child_end(others, NUMBER) && !kc_child_end(roots, NUMBER));
    HOLDS(!is_readable(others, 0) && !is_readable(roots, 0));
    HOLDS(kc_child_kill(others) && is_killed(others));
    return kc_child_kill(roots) && is_killed(roots);
}

static bool is_not_kept(void) {
    int stopper = made_as(NUMBER, true);
    HOLDS(stopper >= 0);
    for (int turn = 0; turn < 50; turn++)
        HOLDS(is_ended(made_as(NUMBER, false)));
    return kc_child_kill(stopper) && is_killed(stopper);
}

int main(void) {
    static const struct test tests[] = {
        {"an exit code is told, and a signal's end apart from it", ends},
        {"a program has its descriptor, nothing for the standard ones, and no other",
         one_descriptor},
        {"keychain-import has its file and its pipe for standard ones", two_descriptors},
        {"the environment is empty but for what turns Swift's backtracer off", environment},
        {"a program has what takes an account of its own, and gains no more", few_rights},
        {"what PAM's modules need is left to keychain-auth", all_rights},
        {"each has a session of its own", session},
        {"a child refuses descriptors of another kind", bad_descriptors},
        {"a request that is looked at stays, and its descriptors with it", left_where_it_is},
        {"a socket that lingers is closed with the connection, and not here", closes_elsewhere},
        {"a peer hears all replies, whatever it has sent", hears_replies},
        {"a process ends that is the number's, and no other", ends_a_number_s},
        {"a process of the number's does not keep this one from ending another", is_not_kept},
    };
    if (geteuid() != 0) {
        printf("skip what a program is started with: it needs root\n");
        return 0;
    }
    return RUN(tests);
}
