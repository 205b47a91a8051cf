// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

int kc_forbid_dumping(void) {
    struct rlimit none = {0, 0};
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : -1;
}

int kc_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int kc_keep_capabilities(uint64_t kept) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct has[2];
    for (unsigned long number = 0; number < 64; number++) {
        // Refused to a process without CAP_SETPCAP, whose programs gain nothing by other means.
        if ((kept >> number & 1) == 0) prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &head, has) != 0) {
        return -1;
    }
    for (int half = 0; half < 2; half++) {
        has[half].permitted &= (uint32_t)(kept >> (32 * half));
        has[half].effective = has[half].permitted;
        has[half].inheritable = 0;
    }
    return (int)syscall(SYS_capset, &head, has);
}

int kc_become(uint32_t number, uint32_t kept) {
    gid_t groups[NGROUPS_MAX];
    int count = getgroups(NGROUPS_MAX, groups);
    bool has_kept = false;
    for (int index = 0; index < count; index++)
        if (groups[index] == kept) has_kept = true;
    if (setgroups(has_kept ? 1 : 0, &kept) != 0 || setresgid(number, number, number) != 0)
        return -1;
    return setresuid(number, number, number);
}

int kc_runs_with_foreign_rights(void) { return getauxval(AT_SECURE) != 0; }

int kc_gives_rights(int file) {
    struct stat status;
    if (fstat(file, &status) != 0 || (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
        return 1;
    }
    return fgetxattr(file, "security.capability", NULL, 0) >= 0 ||
           (errno != ENODATA && errno != ENOTSUP);
}

int kc_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// In the layout of the kernel's first version; older headers lack it.
struct process_info {
    uint64_t mask;
    uint64_t control_group;
    uint32_t ids[11];
    int32_t exit_code;
};

uint64_t kc_control_group(int pidfd) {
    const uint64_t has_control_group = 1 << 2;
    struct process_info info = {.mask = has_control_group};
    if (ioctl(pidfd, _IOWR(0xFF, 11, struct process_info), &info) != 0) return 0;
    return info.mask & has_control_group ? info.control_group : 0;
}

int kc_pidfd_kill(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int kc_reap(int pidfd, int *code) {
    siginfo_t info;
    int result;
    do {
        result = waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WEXITED);
    } while (result != 0 && errno == EINTR);
    *code = result == 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    return result;
}

// Runs after fork: only async-signal-safe calls. Reports errno through the pipe and ends.
static _Noreturn void become(const char *program, char *const argv[], char *const envp[],
                             const int *source, const int *target, size_t count, int new_session,
                             int quiet, pid_t parent, int report) {
    int moved[8];
    // A setgid program's group must not go to its children. Done first, as a change of rights makes
    // the kernel forget the signal below.
    gid_t group = getgid();
    if (getegid() != group && setresgid(group, group, group) != 0) {
        goto failed;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    if (new_session) {
        setsid();
    }
    // Signals are unblocked only when no handler of the parent is left that could run here.
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Sources are moved out of the way of all targets first, then onto them.
    int far = fcntl(report, F_DUPFD_CLOEXEC, 64);
    if (far < 0) {
        goto failed;
    }
    report = far;
    for (size_t i = 0; i < count; i++) {
        moved[i] = fcntl(source[i], F_DUPFD_CLOEXEC, 64);
        if (moved[i] < 0) {
            goto failed;
        }
    }
    if (quiet) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) {
            goto failed;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (dup2(moved[i], target[i]) < 0) {
            goto failed;
        }
    }
    int highest = 2;
    for (size_t i = 0; i < count; i++) {
        highest = target[i] > highest ? target[i] : highest;
    }
    if (syscall(SYS_close_range, (unsigned)highest + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
        // The call is refused, as by a container's filter.
        long most = sysconf(_SC_OPEN_MAX);
        for (int number = highest + 1; number < most; number++) {
            fcntl(number, F_SETFD, FD_CLOEXEC);
        }
    }
    for (int number = 3; number <= highest; number++) {
        int wanted = 0;
        for (size_t i = 0; i < count; i++) {
            wanted |= target[i] == number;
        }
        if (!wanted) {
            close(number);
        }
    }
    execve(program, argv, envp);
failed:;
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

void kc_name_process(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

int kc_spawn(const char *program, char *const argv[], char *const envp[], const int *source,
             const int *target, size_t count, int new_session, int quiet, pid_t *child) {
    int report[2];
    if (count > 8) {
        return EINVAL;
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        return errno;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pid_t parent = getpid();
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t made = fork();
    if (made == 0) {
        become(program, argv, envp, source, target, count, new_session, quiet, parent, report[1]);
    }
    int error = made < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (made > 0) {
        int told;
        ssize_t got;
        do {
            got = read(report[0], &told, sizeof told);
        } while (got < 0 && errno == EINTR);
        if (got == (ssize_t)sizeof told) {
            error = told;
            waitpid(made, NULL, 0);
        } else {
            *child = made;
        }
    }
    close(report[0]);
    return error;
}

static int has_name_of(const char *variable, const char *other) {
    const char *sign = strchr(other, '=');
    return sign != NULL && strncmp(variable, other, (size_t)(sign - other) + 1) == 0;
}

int kc_exec_adding(const char *program, char *const argv[], const char *const added[],
                   size_t count) {
    size_t before = 0;
    while (environ != NULL && environ[before] != NULL) {
        before++;
    }
    const char **all = calloc(before + count + 1, sizeof *all);
    if (all == NULL) {
        return errno;
    }
    size_t used = 0;
    for (size_t i = 0; i < before; i++) {
        int replaced = 0;
        for (size_t j = 0; j < count; j++) {
            replaced |= has_name_of(environ[i], added[j]);
        }
        if (!replaced) {
            all[used++] = environ[i];
        }
    }
    for (size_t j = 0; j < count; j++) {
        all[used++] = added[j];
    }
    execvpe(program, argv, (char *const *)all);
    int error = errno;
    free(all);
    return error;
}

int kc_cores(int thread, uint64_t *words, size_t count) {
    return sched_getaffinity(thread, count * sizeof *words, (cpu_set_t *)words);
}

int kc_run_on(const uint64_t *words, size_t count) {
    return sched_setaffinity(0, count * sizeof *words, (const cpu_set_t *)words);
}

const char *kc_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}
