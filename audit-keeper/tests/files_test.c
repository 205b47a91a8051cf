// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/keychain-audit-XXXXXX";
static int folder = -1;
static struct kc_audit_line line;
static char content[2 * KC_AUDIT_LINE_MAX];

static struct kc_audit_record part(uint32_t user, const char *text) {
    return (struct kc_audit_record){KC_AUDIT_TEXT, user, false, (const uint8_t *)text,
                                    strlen(text)};
}

static bool add(uint32_t user, const char *text) {
    struct kc_audit_record record = part(user, text);
    return kc_line_add(&line, &record);
}

static bool append(uint32_t user, const char *text) {
    return add(user, text) && kc_line_write(&line, folder);
}

// The last bytes of a file, as far as there is room for them.
static const char *tail(const char *name) {
    content[0] = '\0';
    int file = openat(folder, name, O_RDONLY);
    if (file < 0) return content;
    off_t size = lseek(file, 0, SEEK_END);
    off_t start = size > (off_t)sizeof content - 1 ? size - (off_t)sizeof content + 1 : 0;
    ssize_t count = pread(file, content, sizeof content - 1, start);
    content[count > 0 ? count : 0] = '\0';
    close(file);
    return content;
}

static off_t size_of(const char *name) {
    struct stat facts;
    return fstatat(folder, name, &facts, 0) == 0 ? facts.st_size : -1;
}

static void forget(void) {
    static const char *const names[] = {"1.jsonl", "1.jsonl.1", "2.jsonl", "2.jsonl.1", "3.jsonl"};
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++)
        (void)unlinkat(folder, names[index], 0);
    memset(&line, 0, sizeof line);
}

static bool a_file_a_user(void) {
    HOLDS(append(1, "first") && append(2, "other") && append(1, "second"));
    HOLDS(strcmp(tail("1.jsonl"), "first\nsecond\n") == 0);
    HOLDS(strcmp(tail("2.jsonl"), "other\n") == 0);
    struct stat facts;
    HOLDS(fstatat(folder, "1.jsonl", &facts, 0) == 0 && (facts.st_mode & 07777) == 0600);
    return true;
}

static bool several_records(void) {
    HOLDS(add(1, "one,") && add(1, "two,") && append(1, "three"));
    HOLDS(strcmp(tail("1.jsonl"), "one,two,three\n") == 0);
    return true;
}

static bool of_two_users(void) {
    HOLDS(add(1, "one") && !add(2, "two"));
    return true;
}

static bool longest_line(void) {
    static char text[KC_AUDIT_TEXT_MAX + 1];
    memset(text, 'a', KC_AUDIT_TEXT_MAX);
    for (size_t index = 0; index < KC_AUDIT_LINE_MAX / KC_AUDIT_TEXT_MAX; index++)
        HOLDS(add(1, text));
    HOLDS(!add(1, "a"));
    HOLDS(kc_line_write(&line, folder) && size_of("1.jsonl") == KC_AUDIT_LINE_MAX + 1);
    return true;
}

static bool full_file(void) {
    static char text[KC_AUDIT_TEXT_MAX];
    HOLDS(append(2, "other") && append(1, "first"));
    memset(text, 'a', sizeof text - 1);
    for (off_t size = 0; size < 3 * KC_AUDIT_FILE_MAX; size += (off_t)sizeof text) {
        HOLDS(append(1, text));
        HOLDS(size_of("1.jsonl") <= KC_AUDIT_FILE_MAX);
    }
    HOLDS(append(1, "last"));
    size_t length = strlen(tail("1.jsonl"));
    HOLDS(strcmp(content + length - 5, "last\n") == 0);
    // Whole lines, and none between the two files is missing.
    HOLDS(size_of("1.jsonl.1") <= KC_AUDIT_FILE_MAX);
    HOLDS(size_of("1.jsonl.1") > KC_AUDIT_FILE_MAX - (off_t)sizeof text);
    HOLDS(strcmp(tail("2.jsonl"), "other\n") == 0 && size_of("2.jsonl.1") == -1);
    return true;
}

static bool links(void) {
    HOLDS(append(2, "other") && symlinkat("2.jsonl", folder, "1.jsonl") == 0);
    HOLDS(!append(1, "text") && strcmp(tail("2.jsonl"), "other\n") == 0);
    HOLDS(unlinkat(folder, "1.jsonl", 0) == 0 && append(1, "text"));
    return true;
}

// The limit stands for a full disk: the kernel writes as much as there is room for.
static bool full_disk(void) {
    const struct rlimit room = {20, RLIM_INFINITY};
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    HOLDS(append(1, "0123456789"));
    HOLDS(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &room) == 0);
    bool whole = append(1, "abcdefghijklm");
    bool again = append(1, "nothing");
    HOLDS(setrlimit(RLIMIT_FSIZE, &all) == 0);
    HOLDS(!whole && !again && append(1, "later") && append(2, "other"));
    HOLDS(strcmp(tail("1.jsonl"), "0123456789\nabcdefghi\nlater\n") == 0);
    HOLDS(strcmp(tail("2.jsonl"), "other\n") == 0);
    return true;
}

// No test before wrote to the file of this user: it is another process's.
static bool of_another_process(void) {
    static const char cut[] = "whole\ncut sh";
    int file = openat(folder, "3.jsonl", O_WRONLY | O_CREAT, 0600);
    HOLDS(file >= 0 && write(file, cut, sizeof cut - 1) == (ssize_t)sizeof cut - 1);
    close(file);
    HOLDS(append(3, "first") && append(3, "second"));
    HOLDS(strcmp(tail("3.jsonl"), "whole\ncut sh\nfirst\nsecond\n") == 0);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"each user's lines are in a file of that user's", a_file_a_user},
        {"several records are one line", several_records},
        {"the records of two users are no line", of_two_users},
        {"a line is no longer than it may be", longest_line},
        {"a full file takes the older one's place, and no other user's changes", full_file},
        {"no link is followed", links},
        {"a line that the disk cut short spoils none that follows", full_disk},
        {"nor does one that another process left cut short", of_another_process},
    };
    if (mkdtemp(path) == NULL || (folder = open(path, O_PATH | O_DIRECTORY)) < 0) return 1;
    int failed = 0;
    for (size_t index = 0; index < sizeof tests / sizeof tests[0]; index++) {
        failed |= run_tests(&tests[index], 1);
        forget();
    }
    (void)rmdir(path);
    return failed;
}
