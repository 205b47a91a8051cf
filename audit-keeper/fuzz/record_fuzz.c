// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a record and as a reply: refused, or else writing what was read gives the same bytes
// again; and as the records of a line, which stays within its bounds.
#include "audit_record.h"
#include "files.h"
#include "fuzz.h"

#include <string.h>

static bool check_record(const uint8_t *bytes, size_t count) {
    static const struct kc_audit_record nothing;
    struct kc_audit_record record;
    if (kc_audit_record_decode(bytes, count, &record) != KC_AUDIT_OK) {
        REQUIRE(memcmp(&record, &nothing, sizeof record) == 0);
        return false;
    }
    uint8_t head[KC_AUDIT_HEAD_SIZE];
    if (record.kind == KC_AUDIT_SERVE) {
        REQUIRE(kc_audit_serve_encode(record.user, head) && count == sizeof head);
        REQUIRE(record.text == NULL && memcmp(head, bytes, sizeof head) == 0);
        return true;
    }
    REQUIRE(count == sizeof head + record.length && record.text == bytes + sizeof head);
    REQUIRE(record.user != UINT32_MAX && memchr(record.text, '\n', record.length) == NULL);
    REQUIRE(kc_audit_head_encode(record.user, record.has_more, record.length, head));
    REQUIRE(memcmp(head, bytes, sizeof head) == 0);
    static struct kc_audit_line line;
    size_t before = line.length;
    bool added = kc_line_add(&line, &record);
    REQUIRE(line.length == before + (added ? record.length : 0));
    REQUIRE(line.length <= KC_AUDIT_LINE_MAX);
    if (!added || !record.has_more) line.length = 0;
    return true;
}

static void check_reply(const uint8_t *bytes, size_t count) {
    enum kc_audit_word word;
    if (kc_audit_reply_decode(bytes, count, &word) != KC_AUDIT_OK) return;
    uint8_t again[KC_AUDIT_REPLY_SIZE];
    kc_audit_reply_encode(word, again);
    REQUIRE(count == sizeof again && memcmp(again, bytes, count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    (void)check_record(bytes, count);
    check_reply(bytes, count);
    // And with an honest head and length, so that the text is reached.
    static uint8_t honest[KC_AUDIT_HEAD_SIZE + KC_AUDIT_TEXT_MAX];
    size_t length = count < KC_AUDIT_TEXT_MAX ? count : KC_AUDIT_TEXT_MAX;
    if (length == 0) return 0;
    REQUIRE(kc_audit_head_encode(bytes[0], bytes[0] % 2 == 1, length, honest));
    memcpy(honest + KC_AUDIT_HEAD_SIZE, bytes, length);
    bool is_text = true;
    for (size_t index = 0; index < length; index++)
        if (bytes[index] < 0x20) is_text = false;
    REQUIRE(check_record(honest, KC_AUDIT_HEAD_SIZE + length) == is_text);
    return 0;
}
