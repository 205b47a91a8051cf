// SPDX-License-Identifier: Apache-2.0
#ifndef KC_FUZZ_H
#define KC_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The function that libFuzzer, or replay.c, calls.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// Ends the run unless the condition holds, and prints the place.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// The input, consumed piece by piece; zeros once it is used up.
struct input {
    const uint8_t *bytes;
    size_t left;
};

static inline uint8_t take_byte(struct input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->bytes++;
}

// A string of at most `most` bytes after its length, on memory of its own; NULL for an even length,
// so that absent strings are common.
static inline char *take_text(struct input *in, size_t most) {
    size_t length = take_byte(in) | (size_t)take_byte(in) << 8;
    if (length % 2 == 0) return NULL;
    length /= 2;
    if (length > most) length = most;
    if (length > in->left) length = in->left;
    char *text = malloc(length + 1);
    REQUIRE(text != NULL);
    for (size_t index = 0; index < length; index++) {
        uint8_t byte = take_byte(in);
        // A C string has no zero inside: PAM can't pass one.
        text[index] = (char)(byte == 0 ? 'z' : byte);
    }
    text[length] = '\0';
    return text;
}

#endif
