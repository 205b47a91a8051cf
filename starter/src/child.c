// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
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

// Runs in the child.
static _Noreturn void become(const struct kc_program *program, const struct kc_arguments *arguments,
                             const int *descriptors, pid_t parent) {
    char *const bare[] = {NULL};
    char *const quiet[] = {(char *)(uintptr_t) "SWIFT_BACKTRACE=enable=no", NULL};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(FAILED);
    (void)setsid();
    (void)signal(SIGPIPE, SIG_DFL);
    if (!place(program, descriptors) || (!program->keeps_rights && !give_rights_up())) {
        _exit(FAILED);
    }
    (void)execve(arguments->list[0], (char *const *)(uintptr_t)arguments->list,
                 program->is_without_backtrace ? quiet : bare);
    _exit(FAILED);
}

int kc_child_start(const struct kc_program *program, const struct kc_arguments *arguments,
                   const int *descriptors) {
    pid_t parent = getpid();
    pid_t made = fork();
    if (made == 0) become(program, arguments, descriptors, parent);
    if (made < 0) return -1;
    // The number can't be reused before the child is reaped.
    int child = (int)syscall(SYS_pidfd_open, made, 0);
    if (child >= 0) return child;
    (void)kill(made, SIGKILL);
    (void)waitpid(made, NULL, 0);
    return -1;
}

void kc_child_kill(int child) { (void)syscall(SYS_pidfd_send_signal, child, SIGKILL, NULL, 0); }

uint32_t kc_child_reap(int child) {
    siginfo_t how = {0};
    int result = 0;
    do {
        result = waitid((idtype_t)3 /* P_PIDFD */, (id_t)child, &how, WEXITED);
    } while (result != 0 && errno == EINTR);
    bool is_exit = result == 0 && how.si_code == CLD_EXITED;
    return is_exit ? (uint32_t)how.si_status & 0xff : KC_START_BY_SIGNAL;
}
