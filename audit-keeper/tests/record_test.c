// SPDX-License-Identifier: Apache-2.0
#include "audit_record.h"

#include "check.h"

#include <string.h>

enum { LARGEST = KC_AUDIT_HEAD_SIZE + KC_AUDIT_TEXT_MAX };

static uint8_t bytes[LARGEST + 1];
static struct kc_audit_record record;

// Gives the size of the record.
static size_t write(uint32_t user, bool has_more, const char *text) {
    size_t length = strlen(text);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes + KC_AUDIT_HEAD_SIZE, text, length);
    return kc_audit_head_encode(user, has_more, length, bytes) ? KC_AUDIT_HEAD_SIZE + length : 0;
}

static enum kc_audit_status status(size_t count) {
    return kc_audit_record_decode(bytes, count, &record);
}

static bool round_trip(void) {
    HOLDS(status(write(1000, true, "{\"a\":1}")) == KC_AUDIT_OK);
    HOLDS(record.kind == KC_AUDIT_TEXT && record.user == 1000 && record.has_more);
    HOLDS(record.length == 7);
    HOLDS(memcmp(record.text, "{\"a\":1}", 7) == 0);
    HOLDS(status(write(0, false, "x")) == KC_AUDIT_OK && record.user == 0 && !record.has_more);
    return true;
}

static bool layout(void) {
    static const uint8_t whole[] = {0x4b, 0x43, 0x41, 0x4c, 2, 0, 1, 0,   0xe8,
                                    3,    0,    0,    2,    0, 0, 0, 'h', 'i'};
    HOLDS(write(1000, true, "hi") == sizeof whole && memcmp(bytes, whole, sizeof whole) == 0);
    return true;
}

static bool other_sizes(void) {
    size_t size = write(1000, false, "text");
    for (size_t count = 0; count <= size + 1; count++)
        HOLDS((status(count) == KC_AUDIT_OK) == (count == size));
    HOLDS(record.text == NULL && record.length == 0);
    return true;
}

static bool largest(void) {
    memset(bytes, 'a', sizeof bytes);
    HOLDS(kc_audit_head_encode(1, false, KC_AUDIT_TEXT_MAX, bytes));
    HOLDS(status(LARGEST) == KC_AUDIT_OK && status(LARGEST + 1) == KC_AUDIT_MALFORMED);
    HOLDS(!kc_audit_head_encode(1, false, KC_AUDIT_TEXT_MAX + 1, bytes));
    HOLDS(!kc_audit_head_encode(1, false, 0, bytes));
    // A head that tells of a longer text than may be.
    memset(bytes, 'a', sizeof bytes);
    HOLDS(kc_audit_head_encode(1, false, KC_AUDIT_TEXT_MAX, bytes));
    bytes[12] = 1;
    HOLDS(status(LARGEST + 1) == KC_AUDIT_MALFORMED);
    HOLDS(write(1, false, "a") > 0);
    bytes[12] = 0;
    HOLDS(status(KC_AUDIT_HEAD_SIZE) == KC_AUDIT_MALFORMED);
    return true;
}

static bool other_heads(void) {
    size_t size = write(1, false, "text");
    for (size_t index = 0; index < 4; index++) {
        HOLDS(write(1, false, "text") == size);
        bytes[index] ^= 1;
        HOLDS(status(size) == KC_AUDIT_MALFORMED);
    }
    for (unsigned version = 0; version < 4; version++) {
        HOLDS(write(1, false, "text") == size);
        bytes[4] = (uint8_t)version;
        HOLDS(status(size) == (version == 2 ? KC_AUDIT_OK : KC_AUDIT_FOREIGN));
        // Its size is that version's own business.
        HOLDS(version == 2 || status(KC_AUDIT_REPLY_SIZE) == KC_AUDIT_FOREIGN);
    }
    HOLDS(write(1, false, "text") == size);
    bytes[6] = 2;
    HOLDS(status(size) == KC_AUDIT_MALFORMED);
    HOLDS(write(1, false, "text") == size);
    bytes[7] = 1;
    HOLDS(status(size) == KC_AUDIT_MALFORMED);
    HOLDS(write(UINT32_MAX, false, "text") == 0);
    HOLDS(write(1, false, "text") == size);
    memset(bytes + 8, 0xff, 4);
    HOLDS(status(size) == KC_AUDIT_MALFORMED);
    return true;
}

static bool serves(void) {
    static const uint8_t whole[] = {0x4b, 0x43, 0x41, 0x4c, 2, 0, 2, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0};
    memset(bytes, 0, sizeof bytes);
    HOLDS(kc_audit_serve_encode(1000, bytes) && memcmp(bytes, whole, sizeof whole) == 0);
    for (size_t count = 0; count <= sizeof whole + 1; count++)
        HOLDS((status(count) == KC_AUDIT_OK) == (count == sizeof whole));
    HOLDS(status(sizeof whole) == KC_AUDIT_OK && record.kind == KC_AUDIT_SERVE);
    HOLDS(record.user == 1000 && !record.has_more && record.text == NULL && record.length == 0);
    // None has a text, and no text is of another kind.
    for (unsigned more = 0; more < 0x10000; more++) {
        bytes[6] = (uint8_t)more;
        bytes[7] = (uint8_t)(more >> 8);
        HOLDS((status(sizeof whole) == KC_AUDIT_OK) == (more == 2));
        bytes[12] = 1;
        bytes[sizeof whole] = 'a';
        HOLDS((status(sizeof whole + 1) == KC_AUDIT_OK) == (more <= 1));
        bytes[12] = 0;
    }
    HOLDS(!kc_audit_serve_encode(UINT32_MAX, bytes));
    HOLDS(status(sizeof whole) == KC_AUDIT_MALFORMED);
    memcpy(bytes, whole, sizeof whole);
    memset(bytes + 8, 0xff, 4);
    HOLDS(status(sizeof whole) == KC_AUDIT_MALFORMED);
    return true;
}

static bool control_characters(void) {
    for (unsigned each = 0; each < 0x100; each++) {
        size_t size = write(1, false, "text");
        bytes[size - 1] = (uint8_t)each;
        HOLDS((status(size) == KC_AUDIT_OK) == (each >= 0x20));
    }
    return true;
}

static bool replies(void) {
    uint8_t reply[KC_AUDIT_REPLY_SIZE];
    enum kc_audit_word word;
    for (unsigned each = 0; each < 0x10000; each++) {
        kc_audit_reply_encode((enum kc_audit_word)each, reply);
        bool known = each == 1 || each == 2 || (each >= 0x8001 && each <= 0x8003);
        HOLDS((kc_audit_reply_decode(reply, sizeof reply, &word) == KC_AUDIT_OK) == known);
        HOLDS(!known || word == (enum kc_audit_word)each);
    }
    kc_audit_reply_encode(KC_AUDIT_WRITTEN, reply);
    HOLDS(kc_audit_reply_decode(reply, sizeof reply - 1, &word) == KC_AUDIT_MALFORMED);
    reply[4] = 1;
    HOLDS(kc_audit_reply_decode(reply, sizeof reply, &word) == KC_AUDIT_FOREIGN);
    reply[0] = 0;
    HOLDS(kc_audit_reply_decode(reply, sizeof reply, &word) == KC_AUDIT_MALFORMED);
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"a record is read as it was written", round_trip},
        {"the layout is that of the header's picture", layout},
        {"a record of another size than its head says is refused", other_sizes},
        {"a text has one byte at least and 4096 at most", largest},
        {"another head is refused, and another version told apart", other_heads},
        {"a record that says \"serve\" has a user, no text and one encoding", serves},
        {"a text has no control characters", control_characters},
        {"a reply is one of five words", replies},
    };
    return RUN(tests);
}
