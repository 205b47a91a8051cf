// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "adopt.h"
#include "child.h"
#include "peer.h"
#include "request.h"

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
    // So many connections of one user are bound and have no program.
    MOST_WAITING = 16,
    // So many are still to be closed: those of all programs of a user's may be at once.
    MOST_CLOSING = 40,
    // The time after which a child that has not ended yet is killed again.
    AGAIN_MS = 1000,
    MOST_CONNECTIONS = KC_MOST_RUNS + 128,
};

// -1 stands for no descriptor; a free place has neither.
struct run {
    int connection;
    // The program; or without one, the child that closes the connection.
    int child;
    const struct kc_program *program;
    // Whose the connection is, once it is bound.
    bool is_bound;
    uint32_t user;
    int64_t deadline;
    // The connection is no longer heard.
    bool is_over;
};

static const struct run nothing = {.connection = -1, .child = -1};

static struct run runs[MOST_CONNECTIONS];

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---- Its end -----------------------------------------------------------------------------------

// Closes the connection of a run without a program. A child does, as it is closed with what a
// user's worker sent on it and this process has not received. Where there is no room for a child,
// it stays open until there is.
static void hang_up(struct run *run) {
    run->program = NULL;
    run->deadline = now_ms() + AGAIN_MS;
    run->child = kc_child_close(run->connection);
    if (run->child >= 0) run->connection = -1;
}

// Ends the connection for its peer at once, and the program. Both are given up when the program has
// ended.
static void finish(struct run *run) {
    if (run->connection >= 0) (void)shutdown(run->connection, SHUT_RDWR);
    run->is_over = true;
    if (run->child < 0) {
        hang_up(run);
        return;
    }
    (void)kc_child_kill(run->child);
    run->deadline = now_ms() + AGAIN_MS;
}

static void refuse(struct run *run, enum kc_start_word why) {
    kc_reply(run->connection, why, 0);
    finish(run);
}

static void reap(struct run *run) {
    uint32_t status = kc_child_reap(run->child);
    close(run->child);
    run->child = -1;
    if (run->connection < 0) {
        *run = nothing;
        return;
    }
    if (!run->is_over) kc_reply(run->connection, KC_START_ENDED, status);
    finish(run);
}

// ---- A request ---------------------------------------------------------------------------------

// Whether the connection may carry the request: a user's asks for that user, and for what any user
// may have.
static bool may_carry(const struct run *run, const struct kc_start_request *request) {
    bool is_keychainds =
        request->program == KC_START_POLICY || kc_program_for(request->program) == NULL;
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

// Returns why the program was not started, or 0. Its child receives the request, and answers it.
static enum kc_start_word start(struct run *run, const struct kc_start_request *request,
                                const struct kc_installation *installation) {
    const struct kc_program *program = kc_program_for(request->program);
    struct kc_arguments arguments;
    char path[PATH_MAX];
    if (!kc_installation_path(installation, program->name, path)) return KC_START_FAILED;
    enum kc_start_word why = check(program, request, path);
    if (why != 0) return why;
    kc_arguments_make(&arguments, path, request);
    run->child = kc_child_start(program, &arguments, run->connection);
    if (run->child < 0) return KC_START_FAILED;
    run->program = program;
    run->user = request->user;
    run->deadline = now_ms() + (int64_t)kc_program_seconds(request) * 1000;
    return 0;
}

static enum kc_start_word bind_to(struct run *run, uint32_t user) {
    int waiting = 0;
    int closing = 0;
    for (size_t index = 0; index < MOST_CONNECTIONS; index++) {
        const struct run *other = &runs[index];
        if (!other->is_bound || other->program != NULL || other->user != user) continue;
        if (other->is_over) {
            closing++;
        } else {
            waiting++;
        }
    }
    if (waiting >= MOST_WAITING || closing >= MOST_CLOSING) return KC_START_BUSY;
    run->is_bound = true;
    run->user = user;
    run->deadline = now_ms() + BOUND_MS;
    return 0;
}

static enum kc_start_word end(const struct kc_order *order) {
    const struct kc_start_request *request = &order->request;
    if (kc_child_end(order->descriptors[0], request->number)) return 0;
    fprintf(stderr, "keychain-starter: user %u: a process could not be ended as one of uid %u\n",
            request->user, request->number);
    return KC_START_FAILED;
}

static enum kc_start_word do_order(struct run *run, const struct kc_order *order) {
    const struct kc_start_request *request = &order->request;
    if (request->program == KC_START_BIND) return bind_to(run, request->user);
    if (request->program == KC_START_END) return end(order);
    return kc_adopt(order->descriptors[0], order->descriptors[1], request->user, request->number);
}

// What the starter does itself, for keychaind. Returns why it was not done, or 0.
static enum kc_start_word do_itself(struct run *run) {
    struct kc_order order;
    enum kc_start_word why = kc_order_take(run->connection, &order);
    if (why == 0) why = do_order(run, &order);
    kc_order_forget(&order);
    if (why != 0) return why;
    kc_reply(run->connection, KC_START_DONE, 0);
    if (!run->is_bound) finish(run);
    return 0;
}

// Returns why the request was not done, or 0.
static enum kc_start_word obey(struct run *run, const struct kc_installation *installation) {
    struct kc_start_request request;
    enum kc_start_word why = kc_request_look(run->connection, &request);
    if (why != 0) return why;
    if (!may_carry(run, &request)) return KC_START_NOT_ALLOWED;
    return kc_program_for(request.program) == NULL ? do_itself(run)
                                                   : start(run, &request, installation);
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
    bool is_late = now_ms() >= run->deadline;
    if (child != 0) {
        reap(run);
    } else if (run->is_over) {
        if (is_late) finish(run);
    } else if (run->child >= 0) {
        if (connection != 0 || is_late) finish(run);
    } else if (connection != 0) {
        enum kc_start_word why = obey(run, installation);
        if (why != 0) refuse(run, why);
    } else if (is_late) {
        finish(run);
    }
}

// What ends a wait for the connection: its request; while the program runs, its peer's end alone,
// as the request may still be there for the child.
static struct pollfd of_connection(const struct run *run) {
    short events = run->child >= 0 ? POLLRDHUP : POLLIN;
    return (struct pollfd){run->is_over ? -1 : run->connection, events, 0};
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
            items[1 + 2 * index] = of_connection(&runs[index]);
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
