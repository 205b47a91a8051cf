// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PROGRAMS_H
#define KC_PROGRAMS_H

#include "descriptors.h"
#include "start_record.h"

// How a program is started, and how many of it run at a time.
struct kc_program {
    // The name of its file in libexec/keychain.
    const char *name;
    // The descriptors that come with its request, and their numbers in the program.
    struct {
        enum kc_descriptor_kind kind;
        int number;
    } takes[KC_START_DESCRIPTORS_MAX];
    size_t descriptors;
    // A backstop, longer than the time-outs of keychaind and of the program itself.
    uint32_t seconds;
    // For all users, and for one.
    int most;
    int most_of_user;
    // Whether it keeps all of root's rights, and may gain more by starting a program. Others keep
    // what they need to take an account of their own.
    bool keeps_rights;
    // Whether Swift's backtracer is turned off by its environment.
    bool is_without_backtrace;
};

// The sum of `most` of all programs.
enum { KC_MOST_RUNS = 380 };

// NULL for what is no program.
const struct kc_program *kc_program_for(enum kc_start_program program);

// The backstop of this request's program. That of keychain-import follows its file.
uint32_t kc_program_seconds(const struct kc_start_request *request);

// The longest list: two words, two for each folder, the program and the end.
enum { KC_MOST_ARGUMENTS = 1 + 2 + 2 * KC_START_FOLDERS_MAX + KC_START_REGISTERS };

// What a program is started with. It points into the request.
struct kc_arguments {
    const char *list[KC_MOST_ARGUMENTS + 1];
    size_t count;
    char numbers[KC_START_REGISTERS][4];
    char seconds[12];
    char user[12];
};

void kc_arguments_make(struct kc_arguments *arguments, const char *path,
                       const struct kc_start_request *request);

#endif
