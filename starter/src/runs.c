// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "child.h"
#include "peer.h"
#include "start_record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    // keychaind sends its request right after connecting.
    REQUEST_MS = 2000,
    // Longer than the time-outs of keychaind and of keychain-auth itself.
    QUESTION_MS = 100 * 1000,
    // The time after which a child that has not ended yet is killed again.
    AGAIN_MS = 1000,
    MOST_CONNECTIONS = KC_MOST_QUESTIONS + 8,
};

// -1 stands for no descriptor; a free place has neither.
struct question {
    int connection;
    int child;
    uint32_t user;
    int64_t deadline;
};

static struct question questions[MOST_CONNECTIONS];

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void say(int connection, enum kc_start_word word) {
    uint8_t bytes[KC_START_REPLY_SIZE];
    kc_start_reply_encode(word, bytes);
    (void)send(connection, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void hang_up(struct question *question) {
    if (question->connection >= 0) close(question->connection);
    question->connection = -1;
}

static void refuse(struct question *question, enum kc_start_word why) {
    say(question->connection, why);
    hang_up(question);
}

// ---- A request ---------------------------------------------------------------------------------

static bool is_conversation(int descriptor) {
    int domain = 0;
    int type = 0;
    socklen_t size = sizeof domain;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain == AF_UNIX && getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_SEQPACKET;
}

// Receives a whole record with one descriptor. The descriptor must be a socket of keychain-auth's
// kind, and the caller closes it; otherwise returns -1. The kernel drops further descriptors, as
// they find no room.
static int receive(int connection, struct kc_start_request *request, enum kc_start_status *status) {
    uint8_t bytes[KC_START_REQUEST_SIZE + 1];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             // CMSG_SPACE would have room for a second descriptor.
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    int passed = -1;
    ssize_t count = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *status = KC_START_MALFORMED;
    if (count <= 0) return -1;
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    if (item != NULL && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
        item->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(&passed, CMSG_DATA(item), sizeof passed);
    }
    *status = kc_start_request_decode(bytes, (size_t)count, request);
    bool whole = *status == KC_START_OK && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (whole && passed >= 0 && is_conversation(passed)) return passed;
    if (passed >= 0) close(passed);
    if (*status == KC_START_OK) *status = KC_START_MALFORMED;
    return -1;
}

static bool has_room(uint32_t user) {
    int all = 0;
    int own = 0;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
        if (questions[index].child < 0) continue;
        all++;
        if (questions[index].user == user) own++;
    }
    return all < KC_MOST_QUESTIONS && own < KC_MOST_OF_USER;
}

static void begin(struct question *question, const struct kc_installation *installation) {
    struct kc_start_request request;
    enum kc_start_status status;
    int conversation = receive(question->connection, &request, &status);
    if (conversation < 0) {
        refuse(question,
               status == KC_START_FOREIGN ? KC_START_OTHER_VERSION : KC_START_BAD_REQUEST);
        return;
    }
    enum kc_start_word why = 0;
    if (!kc_has_service(request.service)) {
        why = KC_START_NO_SERVICE;
    } else if (!has_room(request.user)) {
        why = KC_START_BUSY;
    } else if (!kc_is_roots_alone(installation->authentication)) {
        fprintf(stderr, "%s: missing, or not root's alone\n", installation->authentication);
        why = KC_START_FAILED;
    } else {
        question->child = kc_child_start(installation->authentication, &request, conversation);
        if (question->child < 0) why = KC_START_FAILED;
    }
    close(conversation);
    if (why != 0) {
        refuse(question, why);
        return;
    }
    question->user = request.user;
    question->deadline = now_ms() + QUESTION_MS;
    say(question->connection, KC_START_STARTED);
}

// ---- Connections -------------------------------------------------------------------------------

static struct question *free_place(void) {
    for (size_t index = 0; index < MOST_CONNECTIONS; index++)
        if (questions[index].connection < 0 && questions[index].child < 0) return &questions[index];
    return NULL;
}

static void welcome(int listener, const struct kc_installation *installation) {
    struct question *question = free_place();
    if (question == NULL) return;
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return;
    *question = (struct question){connection, -1, 0, now_ms() + REQUEST_MS};
    if (!kc_peer_runs(connection, installation->daemon)) refuse(question, KC_START_NOT_ALLOWED);
}

static void look_at(struct question *question, short connection, short child,
                    const struct kc_installation *installation) {
    if (child != 0) {
        kc_child_reap(question->child);
        close(question->child);
        question->child = -1;
        if (question->connection >= 0) say(question->connection, KC_START_ENDED);
        hang_up(question);
        return;
    }
    bool is_late = now_ms() >= question->deadline;
    if (question->child >= 0) {
        // A readable connection means that keychaind has hung up, as it sends nothing more.
        if (connection != 0 || is_late) {
            kc_child_kill(question->child);
            hang_up(question);
            question->deadline = now_ms() + AGAIN_MS;
        }
    } else if (connection != 0) {
        begin(question, installation);
    } else if (is_late) {
        hang_up(question);
    }
}

static int patience(void) {
    int64_t next = INT64_MAX;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
        const struct question *question = &questions[index];
        if ((question->connection >= 0 || question->child >= 0) && question->deadline < next)
            next = question->deadline;
    }
    if (next == INT64_MAX) return -1;
    int64_t left = next - now_ms();
    return left < 0 ? 0 : (int)left;
}

void kc_serve(int listener, const struct kc_installation *installation) {
    static struct pollfd items[1 + 2 * MOST_CONNECTIONS];
    for (size_t index = 0; index < MOST_CONNECTIONS; index++)
        questions[index] = (struct question){-1, -1, 0, 0};
    for (;;) {
        // Without a free place, new connections wait in the socket's queue.
        items[0] = (struct pollfd){free_place() != NULL ? listener : -1, POLLIN, 0};
        for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
            items[1 + 2 * index] = (struct pollfd){questions[index].connection, POLLIN, 0};
            items[2 + 2 * index] = (struct pollfd){questions[index].child, POLLIN, 0};
        }
        if (poll(items, sizeof items / sizeof items[0], patience()) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if ((items[0].revents & ~POLLIN) != 0) return;
        for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
            struct question *question = &questions[index];
            if (question->connection >= 0 || question->child >= 0)
                look_at(question, items[1 + 2 * index].revents, items[2 + 2 * index].revents,
                        installation);
        }
        if (items[0].revents != 0) welcome(listener, installation);
    }
}
