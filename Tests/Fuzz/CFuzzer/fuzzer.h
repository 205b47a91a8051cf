// SPDX-License-Identifier: Apache-2.0
#ifndef KC_FUZZER_H
#define KC_FUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer, for a program with a main of its own.
int LLVMFuzzerRunDriver(int *argument_count, char ***arguments,
                        int (*run)(const uint8_t *bytes, size_t count));

#endif
