// SPDX-License-Identifier: Apache-2.0
#ifndef KC_FILES_H
#define KC_FILES_H

#include "audit_record.h"

#include <stdbool.h>

// The most bytes of a user's file. Of a full one the next line begins a new file, and the full one
// takes the place of the older one beside it: a user has room for twice this.
#define KC_AUDIT_FILE_MAX (4 * 1024 * 1024)

// A file is opened with these and no others.
#define KC_AUDIT_OPENING (O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)

// A line, with room for a line end before it and behind it.
struct kc_audit_line {
    uint32_t user;
    size_t length;
    uint8_t bytes[1 + KC_AUDIT_LINE_MAX + 1];
};

// Adds the record's text to the line. False where the line would be too long, or has begun as
// another user's.
bool kc_line_add(struct kc_audit_line *line, const struct kc_audit_record *record);

// Appends the line to its user's file in the folder, and empties it. False where it could not be
// written as a whole.
bool kc_line_write(struct kc_audit_line *line, int folder);

#endif
