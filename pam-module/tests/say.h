// SPDX-License-Identifier: Apache-2.0
#ifndef KC_SAY_H
#define KC_SAY_H

// A line for the test that started the host.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
