// SPDX-License-Identifier: Apache-2.0
#include "audit_record.h"

#include <string.h>

enum { VERSION_AT = 4, MORE_AT = 6, WORD_AT = 6, USER_AT = 8, LENGTH_AT = 12 };

// What stands in `more`.
enum { LAST = 0, MORE = 1, SERVE = 2 };

static void put(uint8_t *bytes, uint32_t value, size_t count) {
    for (size_t index = 0; index < count; index++)
        bytes[index] = (uint8_t)(value >> (8 * index));
}

static uint32_t take(const uint8_t *bytes, size_t count) {
    uint32_t value = 0;
    for (size_t index = 0; index < count; index++)
        value |= (uint32_t)bytes[index] << (8 * index);
    return value;
}

static void put_magic(uint8_t *bytes) {
    put(bytes, KC_AUDIT_MAGIC, 4);
    put(bytes + VERSION_AT, KC_AUDIT_VERSION, 2);
}

// Of at least the size of a reply.
static enum kc_audit_status check_magic(const uint8_t *bytes) {
    if (take(bytes, 4) != KC_AUDIT_MAGIC) return KC_AUDIT_MALFORMED;
    return take(bytes + VERSION_AT, 2) == KC_AUDIT_VERSION ? KC_AUDIT_OK : KC_AUDIT_FOREIGN;
}

static bool is_text(const uint8_t *text, size_t length) {
    for (size_t index = 0; index < length; index++)
        if (text[index] < 0x20) return false;
    return length >= 1 && length <= KC_AUDIT_TEXT_MAX;
}

static bool put_head(uint32_t user, uint32_t more, size_t length, uint8_t *bytes) {
    memset(bytes, 0, KC_AUDIT_HEAD_SIZE);
    // The kernel's word for no user at all.
    if (user == UINT32_MAX) return false;
    put_magic(bytes);
    put(bytes + MORE_AT, more, 2);
    put(bytes + USER_AT, user, 4);
    put(bytes + LENGTH_AT, (uint32_t)length, 4);
    return true;
}

bool kc_audit_head_encode(uint32_t user, bool has_more, size_t length,
                          uint8_t bytes[KC_AUDIT_HEAD_SIZE]) {
    memset(bytes, 0, KC_AUDIT_HEAD_SIZE);
    if (length < 1 || length > KC_AUDIT_TEXT_MAX) return false;
    return put_head(user, has_more ? MORE : LAST, length, bytes);
}

bool kc_audit_serve_encode(uint32_t user, uint8_t bytes[KC_AUDIT_HEAD_SIZE]) {
    return put_head(user, SERVE, 0, bytes);
}

enum kc_audit_status kc_audit_record_decode(const uint8_t *bytes, size_t count,
                                            struct kc_audit_record *record) {
    memset(record, 0, sizeof *record);
    if (count < KC_AUDIT_REPLY_SIZE) return KC_AUDIT_MALFORMED;
    enum kc_audit_status status = check_magic(bytes);
    if (status != KC_AUDIT_OK) return status;
    if (count < KC_AUDIT_HEAD_SIZE) return KC_AUDIT_MALFORMED;
    const uint8_t *text = bytes + KC_AUDIT_HEAD_SIZE;
    uint32_t more = take(bytes + MORE_AT, 2);
    uint32_t user = take(bytes + USER_AT, 4);
    size_t length = count - KC_AUDIT_HEAD_SIZE;
    if (user == UINT32_MAX || take(bytes + LENGTH_AT, 4) != length) return KC_AUDIT_MALFORMED;
    if (more == SERVE && length == 0) {
        record->kind = KC_AUDIT_SERVE;
        record->user = user;
        return KC_AUDIT_OK;
    }
    if (more > MORE || !is_text(text, length)) return KC_AUDIT_MALFORMED;
    *record = (struct kc_audit_record){KC_AUDIT_TEXT, user, more == MORE, text, length};
    return KC_AUDIT_OK;
}

void kc_audit_reply_encode(enum kc_audit_word word, uint8_t bytes[KC_AUDIT_REPLY_SIZE]) {
    put_magic(bytes);
    put(bytes + WORD_AT, (uint32_t)word, 2);
}

enum kc_audit_status kc_audit_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_audit_word *word) {
    if (count != KC_AUDIT_REPLY_SIZE) return KC_AUDIT_MALFORMED;
    enum kc_audit_status status = check_magic(bytes);
    if (status != KC_AUDIT_OK) return status;
    uint32_t said = take(bytes + WORD_AT, 2);
    if ((said < KC_AUDIT_WRITTEN || said > KC_AUDIT_NO_ROOM) &&
        (said < KC_AUDIT_BAD_RECORD || said > KC_AUDIT_NOT_ALLOWED)) {
        return KC_AUDIT_MALFORMED;
    }
    *word = (enum kc_audit_word)said;
    return KC_AUDIT_OK;
}
