// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "adopt.h"
#include "child.h"
#include "peer.h"

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
    // A connection that is bound goes to a process of its user's first.
    BOUND_MS = 5000,
    // So many connections of one user, bound and without a program.
    MOST_WAITING = 16,
    // The time after which a child that has not ended yet is killed again.
    AGAIN_MS = 1000,
    MOST_CONNECTIONS = KC_MOST_RUNS + 128,
};

// -1 stands for no descriptor; a free place has neither.
struct run {
    int connection;
    int child;
    const struct kc_program *program;
    // Whose the connection is, once it is bound.
    bool is_bound;
    uint32_t user;
    int64_t deadline;
};

static const struct run nothing = {.connection = -1, .child = -1};

static struct run runs[MOST_CONNECTIONS];

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void say(int connection, enum kc_start_word word, uint32_t status) {
    uint8_t bytes[KC_START_REPLY_SIZE];
    kc_start_reply_encode(word, status, bytes);
    (void)send(connection, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void hang_up(struct run *run) {
    if (run->connection >= 0) close(run->connection);
    run->connection = -1;
    run->is_bound = false;
}

static void refuse(struct run *run, enum kc_start_word why) {
    say(run->connection, why, 0);
    hang_up(run);
}

// ---- A request ---------------------------------------------------------------------------------

// A request with its descriptors.
struct order {
    struct kc_start_request request;
    int descriptors[KC_START_DESCRIPTORS_MAX];
    size_t count;
};

static void forget(struct order *order) {
    for (size_t index = 0; index < order->count; index++)
        close(order->descriptors[index]);
    order->count = 0;
}

// The kernel drops further descriptors, as they find no room, and marks the message.
static ssize_t receive(int connection, uint8_t *bytes, size_t size, struct order *order,
                       int *flags) {
    union {
        char bytes[CMSG_SPACE(KC_START_DESCRIPTORS_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             // CMSG_SPACE of an odd number has room for one more.
                             .msg_controllen = CMSG_LEN(KC_START_DESCRIPTORS_MAX * sizeof(int))};
    ssize_t count = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *item = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (item != NULL && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS) {
        order->count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(order->descriptors, CMSG_DATA(item), order->count * sizeof(int));
    }
    *flags = message.msg_flags;
    return count;
}

// Whether the descriptors are the two folders of root's.
static bool has_folders(const struct order *order) {
    return order->count == 2 && kc_descriptor_is(order->descriptors[0], KC_FOLDER_OF_ROOT) &&
           kc_descriptor_is(order->descriptors[1], KC_FOLDER_OF_ROOT);
}

// Whether the descriptors are those of the request, in number, kind and order.
static bool has_descriptors(const struct order *order) {
    if (order->request.program == KC_START_BIND) return order->count == 0;
    if (order->request.program == KC_START_ADOPT) return has_folders(order);
    const struct kc_program *program = kc_program_for(order->request.program);
    if (order->count != program->descriptors) return false;
    for (size_t index = 0; index < order->count; index++)
        if (!kc_descriptor_is(order->descriptors[index], program->takes[index].kind)) return false;
    return true;
}

// Receives a whole record with its descriptors, which the caller closes. Returns why it is none,
// or 0.
static enum kc_start_word take(int connection, struct order *order) {
    uint8_t bytes[KC_START_REQUEST_MAX + 1];
    int flags = 0;
    ssize_t count = receive(connection, bytes, sizeof bytes, order, &flags);
    if (count <= 0) return KC_START_BAD_REQUEST;
    enum kc_start_status status = kc_start_request_decode(bytes, (size_t)count, &order->request);
    if (status == KC_START_FOREIGN) return KC_START_OTHER_VERSION;
    bool is_whole = status == KC_START_OK && (flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    return is_whole && has_descriptors(order) ? 0 : KC_START_BAD_REQUEST;
}

// Whether the connection may carry the request: a user's asks for that user, and for what any user
// may have.
static bool may_carry(const struct run *run, const struct kc_start_request *request) {
    bool is_keychainds = request->program == KC_START_POLICY ||
                         request->program == KC_START_ADOPT || request->program == KC_START_BIND;
    if (is_keychainds || !run->is_bound) return is_keychainds && !run->is_bound;
    return run->user == request->user;
}

static bool has_room(const struct kc_program *program, uint32_t user) {
    int all = 0;
    int own = 0;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
        if (runs[index].child < 0 || runs[index].program != program) continue;
        all++;
        if (runs[index].user == user) own++;
    }
    return all < program->most && own < program->most_of_user;
}

// Returns why the program may not be started, or 0.
static enum kc_start_word check(const struct kc_program *program,
                                const struct kc_start_request *request, const char *path) {
    if (request->program == KC_START_AUTHENTICATION && !kc_has_service(request->service)) {
        return KC_START_NO_SERVICE;
    }
    if (!has_room(program, request->user)) return KC_START_BUSY;
    if (kc_is_missing(path)) return KC_START_NOT_INSTALLED;
    if (kc_is_roots_alone(path)) return 0;
    fprintf(stderr, "%s: not root's alone\n", path);
    return KC_START_FAILED;
}

// Returns why the program was not started, or 0.
static enum kc_start_word start(struct run *run, const struct order *order,
                                const struct kc_installation *installation) {
    const struct kc_start_request *request = &order->request;
    const struct kc_program *program = kc_program_for(request->program);
    struct kc_arguments arguments;
    char path[PATH_MAX];
    if (!kc_installation_path(installation, program->name, path)) return KC_START_FAILED;
    enum kc_start_word why = check(program, request, path);
    if (why != 0) return why;
    kc_arguments_make(&arguments, path, request);
    run->child = kc_child_start(program, &arguments, order->descriptors);
    if (run->child < 0) return KC_START_FAILED;
    run->program = program;
    run->user = request->user;
    run->deadline = now_ms() + (int64_t)kc_program_seconds(request) * 1000;
    return 0;
}

static enum kc_start_word bind_to(struct run *run, uint32_t user) {
    int waiting = 0;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++)
        if (runs[index].is_bound && runs[index].child < 0 && runs[index].user == user) waiting++;
    if (waiting >= MOST_WAITING) return KC_START_BUSY;
    run->is_bound = true;
    run->user = user;
    run->deadline = now_ms() + BOUND_MS;
    return 0;
}

// Returns why the request was not done, or 0.
static enum kc_start_word obey(struct run *run, const struct order *order,
                               const struct kc_installation *installation) {
    const struct kc_start_request *request = &order->request;
    if (!may_carry(run, request)) return KC_START_NOT_ALLOWED;
    if (request->program == KC_START_BIND) return bind_to(run, request->user);
    if (request->program != KC_START_ADOPT) return start(run, order, installation);
    return kc_adopt(order->descriptors[0], order->descriptors[1], request->user, request->number);
}

static void begin(struct run *run, const struct kc_installation *installation) {
    struct order order;
    memset(&order, 0, sizeof order);
    enum kc_start_word why = take(run->connection, &order);
    if (why == 0) why = obey(run, &order, installation);
    forget(&order);
    if (why != 0) {
        refuse(run, why);
    } else if (run->child >= 0) {
        say(run->connection, KC_START_STARTED, 0);
    } else {
        say(run->connection, KC_START_DONE, 0);
        if (!run->is_bound) hang_up(run);
    }
}

// ---- Connections -------------------------------------------------------------------------------

static struct run *free_place(void) {
    for (size_t index = 0; index < MOST_CONNECTIONS; index++)
        if (runs[index].connection < 0 && runs[index].child < 0) return &runs[index];
    return NULL;
}

static void welcome(int listener, const struct kc_installation *installation) {
    struct run *run = free_place();
    if (run == NULL) return;
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return;
    *run = nothing;
    run->connection = connection;
    run->deadline = now_ms() + REQUEST_MS;
    if (!kc_peer_runs(connection, installation->daemon)) refuse(run, KC_START_NOT_ALLOWED);
}

static void look_at(struct run *run, short connection, short child,
                    const struct kc_installation *installation) {
    if (child != 0) {
        uint32_t status = kc_child_reap(run->child);
        close(run->child);
        run->child = -1;
        if (run->connection >= 0) say(run->connection, KC_START_ENDED, status);
        hang_up(run);
        return;
    }
    bool is_late = now_ms() >= run->deadline;
    if (run->child >= 0) {
        // A readable connection means that its peer has hung up, as it sends nothing more.
        if (connection != 0 || is_late) {
            kc_child_kill(run->child);
            hang_up(run);
            run->deadline = now_ms() + AGAIN_MS;
        }
    } else if (connection != 0) {
        begin(run, installation);
    } else if (is_late) {
        hang_up(run);
    }
}

static int patience(void) {
    int64_t next = INT64_MAX;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
        const struct run *run = &runs[index];
        if ((run->connection >= 0 || run->child >= 0) && run->deadline < next) next = run->deadline;
    }
    if (next == INT64_MAX) return -1;
    int64_t left = next - now_ms();
    return left < 0 ? 0 : (int)left;
}

void kc_serve(int listener, const struct kc_installation *installation) {
    static struct pollfd items[1 + 2 * MOST_CONNECTIONS];
    for (size_t index = 0; index < MOST_CONNECTIONS; index++)
        runs[index] = nothing;
    for (;;) {
        // Without a free place, new connections wait in the socket's queue.
        items[0] = (struct pollfd){free_place() != NULL ? listener : -1, POLLIN, 0};
        for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
            items[1 + 2 * index] = (struct pollfd){runs[index].connection, POLLIN, 0};
            items[2 + 2 * index] = (struct pollfd){runs[index].child, POLLIN, 0};
        }
        if (poll(items, sizeof items / sizeof items[0], patience()) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if ((items[0].revents & ~POLLIN) != 0) return;
        for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
            struct run *run = &runs[index];
            if (run->connection >= 0 || run->child >= 0)
                look_at(run, items[1 + 2 * index].revents, items[2 + 2 * index].revents,
                        installation);
        }
        if (items[0].revents != 0) welcome(listener, installation);
    }
}
