// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONVERSATION = 3, CLEAR = 64, FAILED = 127 };

// Runs in the child. The conversation first moves above all of the final numbers, so that none of
// them overwrites it.
static _Noreturn void become(const char *program, const struct kc_start_request *request,
                             int conversation, pid_t parent) {
    char *const arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)request->service,
                               (char *)(uintptr_t)request->account,
                               request->asker[0] != '\0' ? (char *)(uintptr_t)request->asker : NULL,
                               NULL};
    char *const environment[] = {NULL};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(FAILED);
    (void)setsid();
    (void)signal(SIGPIPE, SIG_DFL);
    int moved = fcntl(conversation, F_DUPFD, CLEAR);
    int null = open("/dev/null", O_RDWR);
    if (moved < 0 || null < 0) _exit(FAILED);
    for (int number = 0; number < CONVERSATION; number++)
        if (dup2(null, number) < 0) _exit(FAILED);
    if (dup2(moved, CONVERSATION) < 0 || syscall(SYS_close_range, CONVERSATION + 1U, ~0U, 0) != 0) {
        _exit(FAILED);
    }
    (void)execve(program, arguments, environment);
    _exit(FAILED);
}

int kc_child_start(const char *program, const struct kc_start_request *request, int conversation) {
    pid_t parent = getpid();
    pid_t made = fork();
    if (made == 0) become(program, request, conversation, parent);
    if (made < 0) return -1;
    // The number can't be reused before the child is reaped.
    int child = (int)syscall(SYS_pidfd_open, made, 0);
    if (child >= 0) return child;
    (void)kill(made, SIGKILL);
    (void)waitpid(made, NULL, 0);
    return -1;
}

void kc_child_kill(int child) { (void)syscall(SYS_pidfd_send_signal, child, SIGKILL, NULL, 0); }

void kc_child_reap(int child) {
    siginfo_t how;
    (void)waitid((idtype_t)3 /* P_PIDFD */, (id_t)child, &how, WEXITED);
}
