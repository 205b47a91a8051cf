// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHECK_H
#define KC_CHECK_H

#include <stdbool.h>
#include <stdio.h>

// A test is a function that returns whether what its name says is so.
struct test {
    const char *name;
    bool (*holds)(void);
};

// One line a test; run.py counts them.
static inline int run_tests(const struct test *tests, size_t count) {
    int failed = 0;
    for (size_t index = 0; index < count; index++) {
        bool held = tests[index].holds();
        printf("%s %s\n", held ? "ok  " : "FAIL", tests[index].name);
        if (!held) failed++;
    }
    return failed > 0;
}

#define RUN(tests) run_tests(tests, sizeof(tests) / sizeof((tests)[0]))

// Leaves the test, saying where.
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

#endif
