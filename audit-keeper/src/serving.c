// SPDX-License-Identifier: Apache-2.0
#include "serving.h"

#include "files.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    // The most records of one socket before the others have their turn.
    RECORDS_AT_ONCE = 16,
    // The most sockets of one user: the worker's, and those of workers before it that have last
    // records. Without a limit one user's worker could take all places.
    SOCKETS_OF_ONE = 8,
    // How long sockets are served after keychaind's connection has ended: workers that end with
    // keychaind have last records.
    LAST_MS = 2000,
};

// -1 stands for no socket; a free place has none.
struct bound {
    int socket;
    uint32_t user;
    // Whether the place's line has begun with records that are followed by more.
    bool has_begun;
};

static struct bound places[KC_AUDIT_SOCKETS];
static size_t served;

// One for each place. Memory that no line of several records came to stays untouched, and so takes
// no room; a line of one record is whole at once, and all places share one for it.
static struct kc_audit_line begun[KC_AUDIT_SOCKETS];
static struct kc_audit_line whole;

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool kc_say(int connection, enum kc_audit_word word) {
    uint8_t bytes[KC_AUDIT_REPLY_SIZE];
    kc_audit_reply_encode(word, bytes);
    // What a peer sent that is gone is read to its end: it needs no reply.
    return send(connection, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof bytes ||
           errno == EPIPE || errno == ECONNRESET;
}

// ---- A message ---------------------------------------------------------------------------------

struct message {
    uint8_t bytes[KC_AUDIT_HEAD_SIZE + KC_AUDIT_TEXT_MAX + 1];
    size_t count;
    // -1 where none came.
    int descriptor;
    // More descriptors came than one, or one came and this process has no number left for it.
    bool is_cut;
};

enum arrival { NOTHING, MESSAGE, END };

static enum arrival receive(int socket, struct message *message) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = message->bytes, .iov_len = sizeof message->bytes};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          // CMSG_SPACE of one number has room for two. The kernel drops further
                          // ones, and marks the message.
                          .msg_controllen = CMSG_LEN(sizeof(int))};
    message->descriptor = -1;
    ssize_t count = recvmsg(socket, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) {
        // The kernel says once that the peer has ended with replies unread. What the peer sent
        // before is still there.
        bool is_later = errno == EAGAIN || errno == EINTR || errno == ECONNRESET;
        return is_later ? NOTHING : END;
    }
    const struct cmsghdr *item = CMSG_FIRSTHDR(&head);
    if (item != NULL && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
        item->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(&message->descriptor, CMSG_DATA(item), sizeof message->descriptor);
    }
    message->is_cut = (head.msg_flags & MSG_CTRUNC) != 0;
    message->count = (size_t)count;
    if (count > 0) return MESSAGE;
    // An empty message looks like the end, except that a descriptor may come with it.
    if (message->descriptor >= 0) close(message->descriptor);
    message->descriptor = -1;
    return END;
}

static bool refuse(int socket, enum kc_audit_status status) {
    (void)kc_say(socket, status == KC_AUDIT_FOREIGN ? KC_AUDIT_OTHER_VERSION : KC_AUDIT_BAD_RECORD);
    return false;
}

// ---- A socket of one user's lines --------------------------------------------------------------

static void hang_up(size_t place) {
    struct bound *bound = &places[place];
    close(bound->socket);
    if (bound->has_begun) begun[place].length = 0;
    *bound = (struct bound){-1, 0, false};
    served--;
}

// Returns whether the socket is served further.
static bool keep(size_t place, const struct message *message, int folder) {
    struct bound *bound = &places[place];
    struct kc_audit_record record;
    enum kc_audit_status status = kc_audit_record_decode(message->bytes, message->count, &record);
    // Root's worker keeps the machine's keychain, which programs of other users read.
    bool is_theirs = bound->user == 0 || record.user == bound->user;
    if (status != KC_AUDIT_OK || record.kind != KC_AUDIT_TEXT || !is_theirs ||
        message->descriptor >= 0 || message->is_cut) {
        return refuse(bound->socket, status);
    }
    struct kc_audit_line *line = record.has_more || bound->has_begun ? &begun[place] : &whole;
    if (!kc_line_add(line, &record)) return refuse(bound->socket, status);
    bound->has_begun = record.has_more;
    if (record.has_more) return true;
    bool written = kc_line_write(line, folder);
    return kc_say(bound->socket, written ? KC_AUDIT_WRITTEN : KC_AUDIT_NO_ROOM);
}

static void look_at(size_t place, int folder) {
    static struct message message;
    for (int index = 0; index < RECORDS_AT_ONCE; index++) {
        enum arrival arrival = receive(places[place].socket, &message);
        if (arrival == NOTHING) return;
        bool goes_on = arrival == MESSAGE && keep(place, &message, folder);
        if (message.descriptor >= 0) close(message.descriptor);
        if (!goes_on) return hang_up(place);
    }
}

// ---- keychaind's connection --------------------------------------------------------------------

static void bind_to(uint32_t user, int socket) {
    size_t free_place = KC_AUDIT_SOCKETS;
    size_t of_user = 0;
    for (size_t place = 0; place < KC_AUDIT_SOCKETS; place++) {
        if (places[place].socket < 0 && free_place == KC_AUDIT_SOCKETS) free_place = place;
        if (places[place].socket >= 0 && places[place].user == user) of_user++;
    }
    if (free_place == KC_AUDIT_SOCKETS || of_user == SOCKETS_OF_ONE) {
        close(socket);
        return;
    }
    places[free_place] = (struct bound){socket, user, false};
    served++;
}

// Returns whether the connection is served further.
static bool obey(int control, const struct message *message) {
    struct kc_audit_record record;
    enum kc_audit_status status = kc_audit_record_decode(message->bytes, message->count, &record);
    bool has_one = message->descriptor >= 0 && !message->is_cut;
    // The kernel closes what this process has no number for, as a full table does.
    bool had_no_room = message->descriptor < 0 && message->is_cut;
    if (status != KC_AUDIT_OK || record.kind != KC_AUDIT_SERVE || (!has_one && !had_no_room)) {
        if (message->descriptor >= 0) close(message->descriptor);
        return refuse(control, status);
    }
    if (has_one) bind_to(record.user, message->descriptor);
    return true;
}

// END where keychaind has hung up, and MESSAGE where it is refused.
static enum arrival look_at_control(int control) {
    static struct message message;
    for (int index = 0; index < RECORDS_AT_ONCE; index++) {
        enum arrival arrival = receive(control, &message);
        if (arrival != MESSAGE) return arrival;
        if (!obey(control, &message)) return MESSAGE;
    }
    return NOTHING;
}

// ---- All of them -------------------------------------------------------------------------------

// Waits until one of so many items has something, or so many milliseconds; -1 stands for no limit.
// Not by poll(2), which the kernel goes on with by another call when the process was stopped.
static bool wait_for_any(struct pollfd *items, size_t count, int64_t limit) {
    struct timespec left = {limit / 1000, limit % 1000 * 1000000};
    return ppoll(items, count, limit < 0 ? NULL : &left, NULL) >= 0 || errno == EINTR;
}

void kc_serve(int control, int folder) {
    // The last item is the connection's.
    static struct pollfd items[KC_AUDIT_SOCKETS + 1];
    int64_t end = -1;
    for (size_t place = 0; place < KC_AUDIT_SOCKETS; place++)
        places[place].socket = -1;
    while (control >= 0 || served > 0) {
        size_t used = 0;
        for (size_t place = 0; place < KC_AUDIT_SOCKETS; place++) {
            items[place] = (struct pollfd){places[place].socket, POLLIN, 0};
            if (places[place].socket >= 0) used = place + 1;
        }
        items[used] = (struct pollfd){control, POLLIN, 0};
        int64_t left = end < 0 ? -1 : end - now_ms();
        if (end >= 0 && left <= 0) return;
        if (!wait_for_any(items, used + 1, left)) return;
        for (size_t place = 0; place < used; place++)
            if (items[place].revents != 0) look_at(place, folder);
        if (items[used].revents == 0) continue;
        enum arrival arrival = look_at_control(control);
        if (arrival == MESSAGE) return;
        if (arrival == NOTHING) continue;
        close(control);
        control = -1;
        end = now_ms() + LAST_MS;
    }
}
