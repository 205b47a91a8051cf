// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include "descriptor.h"
#include "locked.h"
#include "trusted_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// The bytes of a number, the longest body; longer answers are not of this protocol.
#define REPLY_BODY_MAX 4

static int64_t now_ms(void) {
    struct timespec now = {0};
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return INT64_MAX / 2;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Milliseconds until the deadline; 0 once it has passed, and where the clock failed: then the
// deadline is further away than the longest time-out.
static int time_left(int64_t deadline) {
    int64_t left = deadline - now_ms();
    return left > 0 && left <= KC_MAX_TIMEOUT_MS ? (int)left : 0;
}

// Where the clock failed, the longest time-out counts as over.
static int waited_since(int64_t begun) {
    int64_t waited = now_ms() - begun;
    return waited >= 0 && waited < KC_MAX_TIMEOUT_MS ? (int)waited : KC_MAX_TIMEOUT_MS;
}

// Waits until the socket is ready for `events`; false, with errno, at the deadline.
static bool wait_for(int socket_fd, short events, int64_t deadline) {
    struct pollfd waiting = {.fd = socket_fd, .events = events};
    int left;
    while ((left = time_left(deadline)) > 0) {
        int ready = poll(&waiting, 1, left);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
    errno = ETIMEDOUT;
    return false;
}

static bool send_all(int socket_fd, const uint8_t *bytes, size_t count, int64_t deadline) {
    while (count > 0) {
        ssize_t sent = send(socket_fd, bytes, count, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (sent < 0 && errno == EAGAIN) {
            if (!wait_for(socket_fd, POLLOUT, deadline)) return false;
        } else if (sent == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool receive_all(int socket_fd, uint8_t *bytes, size_t count, int64_t deadline) {
    while (count > 0) {
        if (!wait_for(socket_fd, POLLIN, deadline)) return false;
        ssize_t got = recv(socket_fd, bytes, count, 0);
        if (got > 0) {
            bytes += got;
            count -= (size_t)got;
        } else if (got == 0) {
            errno = ECONNRESET;
            return false;
        } else if (errno != EAGAIN && errno != EINTR) {
            return false;
        }
    }
    return true;
}

// A socket whose queue is full says EAGAIN and can't be polled, so connecting is tried again.
static bool connect_until(int socket_fd, const struct sockaddr_un *address, int64_t deadline) {
    while (connect(socket_fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (errno == EISCONN) break;
        if (errno != EAGAIN && errno != EINTR) return false;
        if (time_left(deadline) == 0) {
            errno = ETIMEDOUT;
            return false;
        }
        (void)poll(NULL, 0, 5);
    }
    return true;
}

static bool peer_is_root(int socket_fd) {
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t count = sizeof peer;
    if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &count) != 0) return false;
    if (count == sizeof peer && peer.uid == 0) return true;
    errno = EPERM;
    return false;
}

// Returns a connection to a daemon that runs as root, or -1 with errno.
static int connect_to_daemon(const struct kc_options *options) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int patience = options->timeout_ms < KC_CONNECT_MS ? options->timeout_ms : KC_CONNECT_MS;
    int socket_fd = -1;
    bool is_connected = false;
    int file = kc_trusted_socket(options->socket, geteuid() == 0 ? KC_DOOR_LOGIN : KC_DOOR_OFFER);
    if (file < 0) goto done;
    // Connects through the checked descriptor, so that it is this socket and no other. The path is
    // the thread's, since a thread of the host can have a descriptor table of its own.
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/thread-self/fd/%d", file);
    socket_fd = kc_above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket_fd < 0) goto done;
    is_connected =
        connect_until(socket_fd, &address, now_ms() + patience) && peer_is_root(socket_fd);
done:
    kc_close(file);
    if (is_connected) return socket_fd;
    kc_close(socket_fd);
    return -1;
}

// A reply of another version tells which side is older; nothing else of it is read.
static bool is_of_another_version(enum kc_login_status status, struct kc_login_frame *reply) {
    if (status != KC_LOGIN_OLDER && status != KC_LOGIN_NEWER) return false;
    *reply = (struct kc_login_frame){.verb = KC_LOGIN_REFUSED,
                                     .reason = status == KC_LOGIN_OLDER ? KC_LOGIN_OLDER_SERVICE
                                                                        : KC_LOGIN_OLDER_MODULE};
    return true;
}

static bool receive_reply(int socket_fd, struct kc_login_frame *reply, int64_t deadline) {
    uint8_t bytes[KC_LOGIN_HEADER_SIZE + REPLY_BODY_MAX] = {0};
    size_t body_count = 0;
    if (!receive_all(socket_fd, bytes, KC_LOGIN_HEADER_SIZE, deadline)) return false;
    errno = EPROTO;
    enum kc_login_status status = kc_login_header_check(bytes, &body_count);
    if (is_of_another_version(status, reply)) return true;
    if (status != KC_LOGIN_OK) return false;
    if (body_count > REPLY_BODY_MAX) return false;
    if (!receive_all(socket_fd, bytes + KC_LOGIN_HEADER_SIZE, body_count, deadline)) return false;
    errno = EPROTO;
    // A body this short can only be an answer's.
    return kc_login_frame_decode(bytes, KC_LOGIN_HEADER_SIZE + body_count, reply) == KC_LOGIN_OK;
}

// A number is the answer to the question for one, and no other reply is.
static bool is_answer(enum kc_login_verb verb, const struct kc_login_frame *reply) {
    return reply->verb == KC_LOGIN_REFUSED ||
           (verb == KC_LOGIN_NUMBER) == (reply->verb == KC_LOGIN_NUMBER_IS);
}

static bool exchange(const struct kc_options *options, const uint8_t *bytes, size_t count,
                     struct kc_login_frame *reply) {
    int socket_fd = connect_to_daemon(options);
    if (socket_fd < 0) return false;
    int64_t deadline = now_ms() + options->timeout_ms;
    bool is_answered =
        send_all(socket_fd, bytes, count, deadline) && receive_reply(socket_fd, reply, deadline);
    kc_close(socket_fd);
    return is_answered;
}

struct kc_answer kc_daemon_tell(const struct kc_options *options,
                                const struct kc_login_frame *request) {
    struct kc_answer answer = {.outcome = KC_UNREACHABLE};
    struct kc_login_frame reply = {0};
    int64_t begun = now_ms();
    size_t count = 0;
    // The frame may hold a password, so it is in locked memory.
    uint8_t *frame = kc_locked_new(KC_LOGIN_FRAME_MAX);
    if (frame == NULL) {
        answer.error = ENOMEM;
        goto done;
    }
    if (kc_login_frame_encode(request, frame, KC_LOGIN_FRAME_MAX, &count) != KC_LOGIN_OK) {
        answer.error = EINVAL;
        goto done;
    }
    if (!exchange(options, frame, count, &reply)) {
        answer.error = errno;
        goto done;
    }
    if (!is_answer(request->verb, &reply)) {
        answer.error = EPROTO;
        goto done;
    }
    answer.outcome = reply.verb == KC_LOGIN_REFUSED ? KC_REFUSED : KC_ACCEPTED;
    answer.reason = reply.reason;
    answer.notice = reply.notice;
    answer.number = reply.number;
done:
    kc_locked_free(frame, KC_LOGIN_FRAME_MAX);
    answer.waited_ms = waited_since(begun);
    return answer;
}
