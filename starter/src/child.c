// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLEAR = 64, FAILED = 127 };

// The descriptors first move above all of the final numbers, so that none of them overwrites
// another.
static bool place(const struct kc_program *program, const int *descriptors) {
    int moved[KC_START_DESCRIPTORS_MAX];
    int last = STDERR_FILENO;
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return false;
    for (size_t index = 0; index < program->descriptors; index++) {
        moved[index] = fcntl(descriptors[index], F_DUPFD, CLEAR);
        if (moved[index] < 0) return false;
    }
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (dup2(null, number) < 0) return false;
    for (size_t index = 0; index < program->descriptors; index++) {
        int number = program->takes[index].number;
        if (dup2(moved[index], number) < 0) return false;
        last = number > last ? number : last;
    }
    return syscall(SYS_close_range, (unsigned)last + 1U, ~0U, 0) == 0;
}

// The capabilities that are left take an account of the program's own. With the others gone from
// this set, the program does not get them as root, either.
static bool give_rights_up(void) {
    for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; right++)
        if (right != CAP_SETUID && right != CAP_SETGID && prctl(PR_CAPBSET_DROP, right) != 0)
            return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static bool leave_all_but(int connection) {
    unsigned first = STDERR_FILENO + 1U;
    unsigned kept = (unsigned)connection;
    return (kept == first || syscall(SYS_close_range, first, kept - 1, 0) == 0) &&
           syscall(SYS_close_range, kept + 1, ~0U, 0) == 0;
}

enum { CHILD = -2 };

// A process that ends with this one, without its descriptors but the standard ones and the
// connection; `input`, unless -1, is its standard input. Returns CHILD in it. Returns its pidfd
// here, once it has left the other descriptors: a connection that is closed here afterwards is open
// in no child but its own. Returns -1 where there is no such child.
static int make_child(int connection, int input) {
    char byte = 0;
    int left[2];
    int child = -1;
    pid_t parent = getpid();
    if (pipe2(left, O_CLOEXEC) != 0) return -1;
    pid_t made = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &child, NULL, NULL);
    if (made == 0) {
        bool is_ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                        (input < 0 || dup2(input, STDIN_FILENO) >= 0) &&
                        dup2(left[1], STDOUT_FILENO) >= 0 && leave_all_but(connection) &&
                        write(STDOUT_FILENO, &byte, 1) == 1;
        if (!is_ready) _exit(FAILED);
        return CHILD;
    }
    close(left[1]);
    ssize_t count = -1;
    while (made > 0 && (count = read(left[0], &byte, 1)) < 0 && errno == EINTR) {
    }
    close(left[0]);
    if (made < 0) return -1;
    if (count == 1) return child;
    (void)kc_child_reap(child);
    close(child);
    return -1;
}

static bool takes_request(int connection, struct kc_order *order) {
    enum kc_start_word why = kc_order_take(connection, order);
    kc_reply(connection, why == 0 ? KC_START_STARTED : why, 0);
    return why == 0;
}

// Runs in the child.
static _Noreturn void become(const struct kc_program *program, const struct kc_arguments *arguments,
                             int connection) {
    char *const bare[] = {NULL};
    char *const quiet[] = {(char *)(uintptr_t) "SWIFT_BACKTRACE=enable=no", NULL};
    struct kc_order order;
    (void)setsid();
    (void)signal(SIGPIPE, SIG_DFL);
    if (!takes_request(connection, &order) || !place(program, order.descriptors) ||
        (!program->keeps_rights && !give_rights_up())) {
        _exit(FAILED);
    }
    (void)execve(arguments->list[0], (char *const *)(uintptr_t)arguments->list,
                 program->is_without_backtrace ? quiet : bare);
    _exit(FAILED);
}

// Runs in the child, until its input ends. What was sent is received first, as its peer would
// otherwise hear of that instead of the replies.
static _Noreturn void drop(int connection) {
    char byte;
    while (recv(connection, &byte, 1, MSG_DONTWAIT) > 0) {
    }
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    _exit(0);
}

int kc_child_start(const struct kc_program *program, const struct kc_arguments *arguments,
                   int connection) {
    int child = make_child(connection, -1);
    if (child == CHILD) become(program, arguments, connection);
    return child;
}

// The child's input ends when the connection is open in it alone.
int kc_child_close(int connection) {
    int input[2];
    if (pipe2(input, O_CLOEXEC) != 0) return -1;
    int child = make_child(connection, input[0]);
    if (child == CHILD) drop(connection);
    if (child >= 0) close(connection);
    close(input[0]);
    close(input[1]);
    return child;
}

// As a process of the number's the child may signal these alone. Its other numbers are those of no
// process, so none of them may signal it: one that is stopped would keep this process waiting.
bool kc_child_end(int process, uid_t number) {
    const uid_t none = KC_START_NUMBER_FIRST + KC_START_NUMBERS;
    pid_t made = fork();
    if (made == 0) {
        bool is_numbers = setgroups(0, NULL) == 0 && setresgid(none, none, none) == 0 &&
                          setresuid(none, number, none) == 0;
        _exit(is_numbers && (kc_child_kill(process) || errno == ESRCH) ? 0 : FAILED);
    }
    int status = -1;
    while (made > 0 && waitpid(made, &status, 0) < 0 && errno == EINTR) {
    }
    return made > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool kc_child_kill(int child) {
    return syscall(SYS_pidfd_send_signal, child, SIGKILL, NULL, 0) == 0;
}

uint32_t kc_child_reap(int child) {
    siginfo_t how = {0};
    int result = 0;
    do {
        result = waitid((idtype_t)3 /* P_PIDFD */, (id_t)child, &how, WEXITED);
    } while (result != 0 && errno == EINTR);
    bool is_exit = result == 0 && how.si_code == CLD_EXITED;
    return is_exit ? (uint32_t)how.si_status & 0xff : KC_START_BY_SIGNAL;
}
