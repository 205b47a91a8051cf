// SPDX-License-Identifier: Apache-2.0
#ifndef KC_DESCRIPTORS_H
#define KC_DESCRIPTORS_H

#include <stdbool.h>

// What a program is given. Each kind allows the program no more than it needs.
enum kc_descriptor_kind {
    // A Unix socket that keeps the bounds of messages.
    KC_CONVERSATION,
    // A regular file, for reading alone.
    KC_FILE_TO_READ,
    // A pipe's end, for writing alone.
    KC_PIPE_TO_WRITE,
};

bool kc_descriptor_is(int descriptor, enum kc_descriptor_kind kind);

#endif
