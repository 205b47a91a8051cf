// SPDX-License-Identifier: Apache-2.0
#ifndef KC_DESCRIPTORS_H
#define KC_DESCRIPTORS_H

#include <stdbool.h>

// What a program is given, and what comes with what the starter does itself. Each kind allows no
// more than is needed.
enum kc_descriptor_kind {
    // A Unix socket that keeps the bounds of messages.
    KC_CONVERSATION,
    // A regular file, for reading alone.
    KC_FILE_TO_READ,
    // A pipe's end, for writing alone.
    KC_PIPE_TO_WRITE,
    // A folder of root's that no other user may write to.
    KC_FOLDER_OF_ROOT,
    // A pidfd.
    KC_PROCESS,
};

bool kc_descriptor_is(int descriptor, enum kc_descriptor_kind kind);

#endif
