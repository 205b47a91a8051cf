// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
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

int kc_accept_descriptors(int socket) {
    int yes = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof yes) == 0) {
        return 0;
    }
    return errno == ENOPROTOOPT ? 0 : -1;
}

// The control buffer has room for the sender's credentials, and for one descriptor if `passed` is
// given: the kernel drops all others.
static ssize_t receive(int socket, void *buffer, size_t length, int flags, struct kc_sender *sender,
                       int *is_cut, int *passed) {
    struct iovec part = {.iov_base = buffer, .iov_len = length};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (sender != NULL) {
        message.msg_control = control.bytes;
        // CMSG_LEN, as CMSG_SPACE of one descriptor has room for two.
        message.msg_controllen =
            CMSG_SPACE(sizeof(struct ucred)) + (passed != NULL ? CMSG_LEN(sizeof(int)) : 0);
        memset(sender, 0, sizeof *sender);
    }
    if (passed != NULL) {
        *passed = -1;
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
    if (passed == NULL) {
        return received;
    }
    for (; item != NULL; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
            item->cmsg_len == CMSG_LEN(sizeof(int))) {
            memcpy(passed, CMSG_DATA(item), sizeof(int));
        }
    }
    return received;
}

ssize_t kc_receive(int socket, void *buffer, size_t length, int flags, int may_bring_descriptors,
                   struct kc_sender *sender) {
    int is_cut = 0;
    if (may_bring_descriptors) {
        // A descriptor that is seen but not taken stays in the queue, and is closed with the
        // socket: to drop it here could take as long as its owner likes.
        ssize_t seen = receive(socket, buffer, length, flags | MSG_PEEK, sender, &is_cut, NULL);
        if (seen <= 0) {
            return seen;
        }
        if (is_cut) {
            errno = EBADMSG;
            return -1;
        }
        // Data that came since may bring a descriptor.
        length = (size_t)seen;
    }
    ssize_t received = receive(socket, buffer, length, flags, sender, &is_cut, NULL);
    if (received >= 0 && is_cut && sender != NULL) {
        sender->known = 0;
    }
    return received;
}

ssize_t kc_receive_passed(int socket, void *buffer, size_t length, int *passed,
                          struct kc_sender *sender) {
    int is_cut = 0;
    *passed = -1;
    // Only looks, without room for a descriptor: a copy of one would have to be closed again, and
    // each close asks the file system that the descriptor is of, which may never answer.
    ssize_t seen = receive(socket, buffer, length, MSG_PEEK, sender, &is_cut, NULL);
    if (seen <= 0) {
        return seen;
    }
    ssize_t received = receive(socket, buffer, (size_t)seen, 0, sender, &is_cut, passed);
    if (received >= 0 && is_cut) {
        // Of several, one was taken.
        if (*passed >= 0) {
            kc_close_passed(*passed);
            *passed = -1;
        }
        errno = EBADMSG;
        return -1;
    }
    return received;
}

ssize_t kc_receive_one(int socket, void *buffer, size_t length, int *passed) {
    struct iovec part = {.iov_base = buffer, .iov_len = length};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             // CMSG_SPACE would have room for a second descriptor.
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    *passed = -1;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    if (item != NULL && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
        item->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(passed, CMSG_DATA(item), sizeof(int));
    }
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return received;
    if (*passed >= 0) close(*passed);
    *passed = -1;
    errno = EBADMSG;
    return -1;
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
        // Where a system call filter forbids a table of its own, this thread waits, and no other.
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
        // Losing a descriptor is better than losing a thread.
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

static void *close_in_the_end(void *context) {
    close((int)(intptr_t)context);
    return NULL;
}

void kc_close_passed(int passed) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (kc_pidfd_kill(passed, 0) == 0 || errno != EBADF) {
        close(passed);
    } else if (pthread_attr_init(&attributes) == 0) {
        // Each close asks the file system of the file, which may never answer. Where there is no
        // thread for it, losing a descriptor is better than losing this one.
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, (size_t)64 * 1024);
        pthread_create(&thread, &attributes, close_in_the_end, (void *)(intptr_t)passed);
        pthread_attr_destroy(&attributes);
    }
}

void kc_close_peer(int socket) {
    // Nothing can be sent to this end afterwards, so the unread bytes now are all.
    shutdown(socket, SHUT_RDWR);
    kc_close_copy(socket);
}

void kc_close_copy(int socket) {
    int unread = 0;
    if (kc_refuses_descriptors(socket) || (ioctl(socket, FIONREAD, &unread) == 0 && unread == 0)) {
        close(socket);
    } else {
        kc_close_held(socket);
    }
}

ssize_t kc_send(int socket, const void *first, size_t first_length, const void *second,
                size_t second_length, const struct kc_sender *self) {
    return kc_send_passing(socket, first, first_length, second, second_length, self, -1);
}

ssize_t kc_send_passing(int socket, const void *first, size_t first_length, const void *second,
                        size_t second_length, const struct kc_sender *self, int passed) {
    struct iovec parts[2] = {{.iov_base = (void *)first, .iov_len = first_length},
                             {.iov_base = (void *)second, .iov_len = second_length}};
    return kc_send_parts(socket, parts, second_length > 0 ? 2 : 1, self, passed);
}

ssize_t kc_send_parts(int socket, const struct iovec *parts, size_t count,
                      const struct kc_sender *self, int passed) {
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    int names_sender = self != NULL && self->known;
    if (names_sender || passed >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = (names_sender ? CMSG_SPACE(sizeof(struct ucred)) : 0) +
                                 (passed >= 0 ? CMSG_SPACE(sizeof(int)) : 0);
    }
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    if (names_sender) {
        struct ucred credentials = {.pid = self->pid, .uid = self->uid, .gid = self->gid};
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_CREDENTIALS;
        item->cmsg_len = CMSG_LEN(sizeof credentials);
        memcpy(CMSG_DATA(item), &credentials, sizeof credentials);
        item = CMSG_NXTHDR(&message, item);
    }
    if (passed >= 0) {
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof passed);
        memcpy(CMSG_DATA(item), &passed, sizeof passed);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t kc_send_passing_all(int socket, const void *bytes, size_t length, const int *passed,
                            size_t count) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union {
        char bytes[CMSG_SPACE(KC_MOST_PASSED * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    if (count > KC_MOST_PASSED) {
        errno = EINVAL;
        return -1;
    }
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *item = CMSG_FIRSTHDR(&message);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(item), passed, count * sizeof(int));
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

void kc_wait_for_hang_up(int socket, int process) {
    // poll ignores a number below 0.
    struct pollfd items[] = {{.fd = socket, .events = POLLRDHUP},
                             {.fd = process, .events = POLLIN}};
    while (poll(items, 2, -1) < 0 && errno == EINTR) {
    }
}

uint8_t kc_load_byte(const uint8_t *byte) { return __atomic_load_n(byte, __ATOMIC_ACQUIRE); }
