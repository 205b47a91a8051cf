// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int kc_refuse_descriptors(int socket) {
    int no = 0;
    return setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no);
}

int kc_refuses_descriptors(int socket) {
    int passes = 1;
    socklen_t length = sizeof passes;
    return getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &passes, &length) == 0 && passes == 0;
}

// The control buffer has room for who sent it and for no descriptor: the kernel drops those.
static ssize_t receive(int socket, void *buffer, size_t length, int flags, struct kc_sender *sender,
                       int *is_cut) {
    struct iovec part = {.iov_base = buffer, .iov_len = length};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (sender != NULL) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        memset(sender, 0, sizeof *sender);
    }
    ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (received < 0) {
        return received;
    }
    struct cmsghdr *item = sender != NULL ? CMSG_FIRSTHDR(&message) : NULL;
    if (item != NULL && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_CREDENTIALS &&
        item->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
        struct ucred credentials;
        memcpy(&credentials, CMSG_DATA(item), sizeof credentials);
        sender->pid = credentials.pid;
        sender->uid = credentials.uid;
        sender->gid = credentials.gid;
        sender->known = 1;
    }
    *is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
    return received;
}

ssize_t kc_receive(int socket, void *buffer, size_t length, int flags, int may_bring_descriptors,
                   struct kc_sender *sender) {
    int is_cut = 0;
    if (may_bring_descriptors) {
        // A descriptor that is seen but not taken stays in the queue, and is closed with the
        // socket: to drop it here could take as long as its owner likes.
        ssize_t seen = receive(socket, buffer, length, flags | MSG_PEEK, sender, &is_cut);
        if (seen <= 0) {
            return seen;
        }
        if (is_cut) {
            errno = EBADMSG;
            return -1;
        }
        // What came since may bring one.
        length = (size_t)seen;
    }
    ssize_t received = receive(socket, buffer, length, flags, sender, &is_cut);
    if (received >= 0 && is_cut && sender != NULL) {
        sender->known = 0;
    }
    return received;
}

struct closing {
    int number;
    int is_alone;
    sem_t is_held;
    sem_t may_end;
};

static void *hold_and_end(void *context) {
    struct closing *closing = context;
    closing->is_alone = unshare(CLONE_FILES) == 0;
    sem_post(&closing->is_held);
    while (sem_wait(&closing->may_end) != 0) {
    }
    if (!closing->is_alone) {
        // A system call filter forbids a table of its own: this thread waits, and no other.
        close(closing->number);
    }
    free(closing);
    return NULL;
}

void kc_close_held(int socket) {
    struct closing *closing = calloc(1, sizeof *closing);
    pthread_attr_t attributes;
    pthread_t thread;
    if (closing == NULL || pthread_attr_init(&attributes) != 0) {
        free(closing);
        return;
    }
    closing->number = socket;
    sem_init(&closing->is_held, 0, 0);
    sem_init(&closing->may_end, 0, 0);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)64 * 1024);
    int error = pthread_create(&thread, &attributes, hold_and_end, closing);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        // A descriptor less is better than a thread less.
        free(closing);
        return;
    }
    while (sem_wait(&closing->is_held) != 0) {
    }
    if (closing->is_alone) {
        close(socket);
    }
    sem_post(&closing->may_end);
}

void kc_close_peer(int socket) {
    int unread = 0;
    // After it nothing can be sent to us, and so what is unread now is all of it.
    shutdown(socket, SHUT_RDWR);
    if (kc_refuses_descriptors(socket) || (ioctl(socket, FIONREAD, &unread) == 0 && unread == 0)) {
        close(socket);
    } else {
        kc_close_held(socket);
    }
}

ssize_t kc_send(int socket, const void *first, size_t first_length, const void *second,
                size_t second_length, const struct kc_sender *self) {
    struct iovec parts[2] = {{.iov_base = (void *)first, .iov_len = first_length},
                             {.iov_base = (void *)second, .iov_len = second_length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = second_length > 0 ? 2 : 1};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    if (self != NULL && self->known) {
        struct ucred credentials = {.pid = self->pid, .uid = self->uid, .gid = self->gid};
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *item = CMSG_FIRSTHDR(&message);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_CREDENTIALS;
        item->cmsg_len = CMSG_LEN(sizeof credentials);
        memcpy(CMSG_DATA(item), &credentials, sizeof credentials);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

struct kc_sender kc_own_credentials(void) {
    struct kc_sender own = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
    own.known = getuid() != own.uid || getgid() != own.gid;
    return own;
}

int kc_peer_pidfd(int socket) {
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) != 0) {
        return -1;
    }
    return descriptor;
}

int kc_accept(int socket, int wake) {
    struct pollfd items[2] = {{.fd = socket, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    if (poll(items, 2, -1) < 0) {
        return -1;
    }
    if (items[1].revents != 0) {
        errno = ECANCELED;
        return -1;
    }
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC);
}

int kc_wake_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void kc_wake(int wake) { eventfd_write(wake, 1); }

int kc_rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    // A file system without it: for a moment the file has two names.
    return link(from, to) == 0 && unlink(from) == 0 ? 0 : -1;
}

int kc_rename_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int kc_peer_credentials(int socket, struct kc_sender *peer) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
        return -1;
    }
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->known = 1;
    return 0;
}

int kc_hung_up(int socket) {
    struct pollfd item = {.fd = socket, .events = POLLRDHUP};
    return poll(&item, 1, 0) > 0 &&
           (item.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int kc_open_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int kc_is_mounted_nosuid(const char *path) {
    struct statfs facts;
    // ST_NOSUID (statfs(2)).
    return statfs(path, &facts) != 0 || (facts.f_flags & 2) != 0;
}

int kc_is_automounted(const char *path) {
    struct statfs facts;
    return statfs(path, &facts) != 0 || facts.f_type == AUTOFS_SUPER_MAGIC;
}

int kc_has_access_list(const char *path) {
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

int kc_forbid_dumping(void) {
    struct rlimit none = {0, 0};
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : -1;
}

void kc_bound_memory(void) {
    mallopt(M_ARENA_MAX, 2);
    // Large pieces are mappings of their own, however large those were that were freed before.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}

static struct {
    char name[32];
    // Where the program lies.
    size_t base;
    size_t end;
    int out;
} crash;

static int find_program(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    crash.base = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        size_t end = crash.base + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && end > crash.end) {
            crash.end = end;
        }
    }
    // The first is the program; nothing is asked of libraries.
    return 1;
}

static char *put_text(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, size_t number, unsigned base) {
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

// Only what is safe in a handler; backtrace(3) has been called before, and so allocates nothing.
static void tell_of_crash(int number) {
    void *places[24];
    char line[640];
    int count = backtrace(places, 24);
    char *end = put_text(line, crash.name);
    end = put_number(put_text(end, ": crashed by signal "), (size_t)number, 10);
    end = put_text(end, ", at");
    // The first is this function. Where a library lies is no part of it.
    for (int i = 1; i < count; i++) {
        size_t place = (size_t)places[i];
        if (place >= crash.base && place < crash.end) {
            end = put_number(put_text(end, " +0x"), place - crash.base, 16);
        }
    }
    *end++ = '\n';
    ssize_t ignored = write(crash.out, line, (size_t)(end - line));
    (void)ignored;
    raise(number);
}

int kc_tell_of_crashes(const char *name) {
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    void *place[1];
    (void)snprintf(crash.name, sizeof crash.name, "%s", name);
    crash.out = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (crash.out < 0 || null < 0 || dup2(crash.out, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0) {
        return -1;
    }
    close(null);
    dl_iterate_phdr(find_program, NULL);
    (void)backtrace(place, 1);
    struct sigaction action = {.sa_handler = tell_of_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], &action, NULL) != 0) {
            return -1;
        }
    }
    return 0;
}

int kc_runs_with_foreign_rights(void) { return getauxval(AT_SECURE) != 0; }

static const int all_seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

int kc_memory_make(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int kc_memory_seal(int memory) { return fcntl(memory, F_ADD_SEALS, all_seals); }

int kc_memory_is_sealed(int memory) {
    // -1, which has every bit, for what is no file of memory.
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & all_seals) == all_seals;
}

int kc_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

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

// After fork: only what is safe there. Reports errno through the pipe and ends.
static _Noreturn void become(const char *program, char *const argv[], char *const envp[],
                             const int *source, const int *target, size_t count, int new_session,
                             int quiet, pid_t parent, int report) {
    int moved[8];
    // A setgid program's group is not its children's. First: a change of rights makes the kernel
    // forget the signal below.
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
    // Unblocked only when no handler of the parent is left that could run here.
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // First out of the way of the targets, then onto them.
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
        // Where a container's filter refuses it.
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

const char *kc_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}
