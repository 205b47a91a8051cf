// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool kc_line_add(struct kc_audit_line *line, const struct kc_audit_record *record) {
    if (line->length > 0 && line->user != record->user) return false;
    if (record->length > KC_AUDIT_LINE_MAX - line->length) return false;
    memcpy(line->bytes + 1 + line->length, record->text, record->length);
    line->user = record->user;
    line->length += record->length;
    return true;
}

// The user's file at its end, with room for so many bytes.
static int open_file(uint32_t user, size_t needed, int folder) {
    char name[32];
    char older[32];
    (void)snprintf(name, sizeof name, "%u.jsonl", user);
    (void)snprintf(older, sizeof older, "%u.jsonl.1", user);
    int file = openat(folder, name, KC_AUDIT_OPENING, 0600);
    // A copy that was put back may be root's: it makes way as a full file does.
    if (file < 0 && errno != EACCES) return -1;
    if (file >= 0) {
        off_t size = lseek(file, 0, SEEK_END);
        if (size >= 0 && size <= KC_AUDIT_FILE_MAX - (off_t)needed) return file;
        close(file);
        if (size < 0) return -1;
    }
    if (syscall(SYS_renameat2, folder, name, folder, older, 0) != 0) return -1;
    return openat(folder, name, KC_AUDIT_OPENING, 0600);
}

// Users whose files end in a whole line of this process's, by the rest of their numbers: the last
// such user, as the number plus one.
static uint32_t whole_ends[256];

bool kc_line_write(struct kc_audit_line *line, int folder) {
    // Any other file may end in a line that was cut short, by a full disk or the end of a process.
    // There the line begins with a line end, and so is a line of its own. Readers pass over empty
    // lines.
    uint32_t mark = line->user + 1;
    uint32_t *place = &whole_ends[line->user % (sizeof whole_ends / sizeof whole_ends[0])];
    size_t before = *place == mark ? 0 : 1;
    line->bytes[0] = '\n';
    line->bytes[1 + line->length] = '\n';
    size_t count = before + line->length + 1;
    line->length = 0;
    int file = open_file(line->user, count, folder);
    if (file < 0) return false;
    // An empty file has no such line.
    if (before == 1 && lseek(file, 0, SEEK_CUR) == 0) {
        before = 0;
        count--;
    }
    ssize_t written = write(file, line->bytes + 1 - before, count);
    close(file);
    if (written > 0) *place = (size_t)written == count ? mark : 0;
    return written == (ssize_t)count;
}
