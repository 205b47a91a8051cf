// SPDX-License-Identifier: Apache-2.0
//
// What keychaind and its workers say to keychain-audit and hear from it, defined once for all.
//
//     record  magic u32 | version u16 | more u16 | user u32 | length u32 | text [length]
//     reply   magic u32 | version u16 | word u16
//
// Numbers are little-endian. keychaind's connection has records that say "serve": `more` is 2, and
// there is no text. With each comes one descriptor, a socket on which from then on lines of that
// user are taken. No such record has a reply.
//
// A line of the audit is the text of one record of such a socket, or of several: `more` is 1 in
// each but the last, which has 0. The line's end is not sent. Each line has one reply, in the order
// of the socket's lines. Behind a refusal the socket ends. Magic, version and the size of a reply
// are those of every version.

#ifndef KC_AUDIT_RECORD_H
#define KC_AUDIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KC_AUDIT_MAGIC UINT32_C(0x4c41434b) // "KCAL"
#define KC_AUDIT_VERSION UINT16_C(2)
#define KC_AUDIT_HEAD_SIZE 16
#define KC_AUDIT_REPLY_SIZE 8
// The most bytes of one record's text, and of a line.
#define KC_AUDIT_TEXT_MAX 4096
#define KC_AUDIT_LINE_MAX 65536

enum kc_audit_word {
    // The line is in its user's file.
    KC_AUDIT_WRITTEN = 1,
    // The line could not be written, as where the disk is full. The socket goes on.
    KC_AUDIT_NO_ROOM = 2,
    // Refusals. The record is none of this version or of its socket, or the line is too long.
    KC_AUDIT_BAD_RECORD = 0x8001,
    KC_AUDIT_OTHER_VERSION = 0x8002,
    // The peer is not this installation's keychaind.
    KC_AUDIT_NOT_ALLOWED = 0x8003,
};

enum kc_audit_status {
    KC_AUDIT_OK = 0,
    KC_AUDIT_MALFORMED,
    // Another version than KC_AUDIT_VERSION.
    KC_AUDIT_FOREIGN,
};

enum kc_audit_kind {
    KC_AUDIT_TEXT = 0,
    KC_AUDIT_SERVE,
};

struct kc_audit_record {
    enum kc_audit_kind kind;
    uint32_t user;
    // These are a text's.
    bool has_more;
    // Within the bytes that were decoded.
    const uint8_t *text;
    size_t length;
};

// The head of a record, whose text follows. False where no text of the length is taken.
bool kc_audit_head_encode(uint32_t user, bool has_more, size_t length,
                          uint8_t bytes[KC_AUDIT_HEAD_SIZE]);

// A record that says "serve". False for the kernel's word for no user at all.
bool kc_audit_serve_encode(uint32_t user, uint8_t bytes[KC_AUDIT_HEAD_SIZE]);

// All zeros in `record` unless KC_AUDIT_OK. A text has no control characters, so that a line stays
// one line.
enum kc_audit_status kc_audit_record_decode(const uint8_t *bytes, size_t count,
                                            struct kc_audit_record *record);

void kc_audit_reply_encode(enum kc_audit_word word, uint8_t bytes[KC_AUDIT_REPLY_SIZE]);

// `word` is set where KC_AUDIT_OK.
enum kc_audit_status kc_audit_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_audit_word *word);

#endif
