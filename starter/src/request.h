// SPDX-License-Identifier: Apache-2.0
#ifndef KC_REQUEST_H
#define KC_REQUEST_H

#include "start_record.h"

// Reads the next request of the connection and leaves it there with its descriptors. Returns why it
// is none, or 0.
//
// The process that serves all users receives no user's descriptors: to close a file, or to ask
// which kind it is, takes as long as its file system likes.
enum kc_start_word kc_request_look(int connection, struct kc_start_request *request);

// A request with its descriptors.
struct kc_order {
    struct kc_start_request request;
    int descriptors[KC_START_DESCRIPTORS_MAX];
    size_t count;
};

// Receives the next request of the connection. Returns why it is none, or 0 where it came with the
// descriptors that it takes, in number, kind and order.
enum kc_start_word kc_order_take(int connection, struct kc_order *order);

// Closes the descriptors.
void kc_order_forget(struct kc_order *order);

void kc_reply(int connection, enum kc_start_word word, uint32_t status);

#endif
