// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char heard[4096];

// What the words of a shell come to as this program, with a pipe in place of the descriptor that it
// writes to. Returns its status.
static uint32_t run(enum kc_start_program number, const char *words, int file) {
    struct kc_program program = *kc_program_for(number);
    const struct kc_arguments arguments = {.list = {"/bin/sh", "-c", words}, .count = 3};
    int ends[2];
    heard[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) return UINT32_MAX;
    const int given[] = {program.descriptors == 2 ? file : ends[1], ends[1]};
    int child = kc_child_start(&program, &arguments, given);
    close(ends[1]);
    size_t count = 0;
    ssize_t more = 0;
    while ((more = read(ends[0], heard + count, sizeof heard - 1 - count)) > 0)
        count += (size_t)more;
    heard[count] = '\0';
    close(ends[0]);
    if (child < 0) return UINT32_MAX;
    struct pollfd end = {.fd = child, .events = POLLIN};
    (void)poll(&end, 1, 20000);
    uint32_t status = kc_child_reap(child);
    close(child);
    return status;
}

static bool ends(void) {
    HOLDS(run(KC_START_TPM, "exit 0", -1) == 0);
    HOLDS(run(KC_START_TPM, "exit 80", -1) == 80);
    HOLDS(run(KC_START_TPM, "exit 255", -1) == 255);
    HOLDS(run(KC_START_TPM, "kill -9 $$", -1) == KC_START_BY_SIGNAL);
    HOLDS(run(KC_START_TPM, "kill -13 $$", -1) == KC_START_BY_SIGNAL);
    return true;
}

// A subshell is another process, so that the redirection is not among what is looked at.
static bool one_descriptor(void) {
    int other = open("/dev/zero", O_RDONLY); // without O_CLOEXEC
    HOLDS(run(KC_START_POLICY, "cd /proc/$$/fd; (readlink 0 1 2 3) >&3; exit 0", -1) == 0);
    HOLDS(strncmp(heard, "/dev/null\n/dev/null\n/dev/null\npipe:", 35) == 0);
    HOLDS(run(KC_START_POLICY, "cd /proc/$$/fd; (readlink *) >&3; exit 0", -1) == 0);
    close(other);
    HOLDS(strstr(heard, "pipe:") != NULL && strstr(heard, "/dev/zero") == NULL);
    return true;
}

static bool two_descriptors(void) {
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    HOLDS(file >= 0);
    HOLDS(run(KC_START_IMPORT, "cd /proc/$$/fd; readlink 0 1 2 3; exit 0", file) == 0);
    close(file);
    HOLDS(strncmp(heard, "/etc/passwd\npipe:", 17) == 0);
    char *third = strstr(heard, "\n/dev/null\n");
    HOLDS(third != NULL && strlen(third) == 11);
    return true;
}

static bool environment(void) {
    (void)setenv("LD_PRELOAD_TEST", "kept", 1);
    HOLDS(run(KC_START_POLICY, "tr '\\0' '\\n' </proc/$$/environ >&3", -1) == 0);
    HOLDS(heard[0] == '\0');
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    HOLDS(run(KC_START_IMPORT, "tr '\\0' '\\n' </proc/$$/environ", file) == 0);
    close(file);
    HOLDS(strcmp(heard, "SWIFT_BACKTRACE=enable=no\n") == 0);
    return true;
}

static const char *const rights = "grep -E '^(CapBnd|CapPrm|NoNewPrivs)' /proc/$$/status >&3";

static bool few_rights(void) {
    // CAP_SETGID and CAP_SETUID.
    HOLDS(run(KC_START_POLICY, rights, -1) == 0);
    HOLDS(strstr(heard, "CapPrm:\t00000000000000c0\n") != NULL);
    HOLDS(strstr(heard, "CapBnd:\t00000000000000c0\n") != NULL);
    HOLDS(strstr(heard, "NoNewPrivs:\t1\n") != NULL);
    return true;
}

static bool all_rights(void) {
    HOLDS(run(KC_START_AUTHENTICATION, rights, -1) == 0);
    HOLDS(strstr(heard, "CapBnd:\t00000000000000c0\n") == NULL);
    HOLDS(strstr(heard, "NoNewPrivs:\t0\n") != NULL);
    return true;
}

static bool session(void) {
    HOLDS(run(KC_START_POLICY, "cut -d ' ' -f 1,6 /proc/$$/stat >&3", -1) == 0);
    int process = 0;
    int leader = 0;
    HOLDS(sscanf(heard, "%d %d", &process, &leader) == 2 && process == leader);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"an exit code is told, and a signal's end apart from it", ends},
        {"a program has its descriptor, nothing for the standard ones, and no other",
         one_descriptor},
        {"keychain-import has its file and its pipe for standard ones", two_descriptors},
        {"the environment is empty but for what turns Swift's backtracer off", environment},
        {"a program has what takes an account of its own, and gains no more", few_rights},
        {"what PAM's modules need is left to keychain-auth", all_rights},
        {"each has a session of its own", session},
    };
    if (geteuid() != 0) {
        printf("skip what a program is started with: it needs root\n");
        return 0;
    }
    return RUN(tests);
}
