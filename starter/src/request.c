// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include "programs.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum kc_start_word decode(const uint8_t *bytes, ssize_t count,
                                 struct kc_start_request *request) {
    if (count <= 0) return KC_START_BAD_REQUEST;
    enum kc_start_status status = kc_start_request_decode(bytes, (size_t)count, request);
    if (status == KC_START_FOREIGN) return KC_START_OTHER_VERSION;
    return status == KC_START_OK ? 0 : KC_START_BAD_REQUEST;
}

// The kernel installs no descriptor for a message that is looked at without room for any.
enum kc_start_word kc_request_look(int connection, struct kc_start_request *request) {
    uint8_t bytes[KC_START_REQUEST_MAX + 1];
    return decode(bytes, recv(connection, bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK), request);
}

// The kernel drops further descriptors, as they find no room, and marks the message.
static ssize_t receive(int connection, uint8_t *bytes, size_t size, struct kc_order *order,
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
static bool has_folders(const struct kc_order *order) {
    return order->count == 2 && kc_descriptor_is(order->descriptors[0], KC_FOLDER_OF_ROOT) &&
           kc_descriptor_is(order->descriptors[1], KC_FOLDER_OF_ROOT);
}

static bool has_process(const struct kc_order *order) {
    return order->count == 1 && kc_descriptor_is(order->descriptors[0], KC_PROCESS);
}

static bool has_descriptors(const struct kc_order *order) {
    if (order->request.program == KC_START_BIND) return order->count == 0;
    if (order->request.program == KC_START_ADOPT) return has_folders(order);
    if (order->request.program == KC_START_END) return has_process(order);
    const struct kc_program *program = kc_program_for(order->request.program);
    if (order->count != program->descriptors) return false;
    for (size_t index = 0; index < order->count; index++)
        if (!kc_descriptor_is(order->descriptors[index], program->takes[index].kind)) return false;
    return true;
}

enum kc_start_word kc_order_take(int connection, struct kc_order *order) {
    uint8_t bytes[KC_START_REQUEST_MAX + 1];
    int flags = 0;
    memset(order, 0, sizeof *order);
    ssize_t count = receive(connection, bytes, sizeof bytes, order, &flags);
    enum kc_start_word why = decode(bytes, count, &order->request);
    if (why != 0) return why;
    bool is_whole = (flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    return is_whole && has_descriptors(order) ? 0 : KC_START_BAD_REQUEST;
}

void kc_order_forget(struct kc_order *order) {
    for (size_t index = 0; index < order->count; index++)
        close(order->descriptors[index]);
    order->count = 0;
}

void kc_reply(int connection, enum kc_start_word word, uint32_t status) {
    uint8_t bytes[KC_START_REPLY_SIZE];
    kc_start_reply_encode(word, status, bytes);
    (void)send(connection, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}
