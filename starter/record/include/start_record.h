// SPDX-License-Identifier: Apache-2.0
//
// What keychaind and keychain-starter say to each other, defined once for both.
//
//     request (572 bytes)  magic u32 | version u16 | zero u16 | user u32
//                          service [48] | account [256] | asker [256]
//     reply (8 bytes)      magic u32 | version u16 | word u16
//
// Numbers are little-endian; a text ends with a zero, and zeros fill the rest of its field. A
// connection has one request, and one descriptor with it: the conversation of keychain-auth. The
// first reply is KC_START_STARTED or a refusal, the second KC_START_ENDED. A connection that ends
// ends keychain-auth. Magic, version and the size of a reply are those of every version.

#ifndef KC_START_RECORD_H
#define KC_START_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KC_START_MAGIC UINT32_C(0x5541434b) // "KCST"
#define KC_START_VERSION UINT16_C(1)
#define KC_START_REQUEST_SIZE 572
#define KC_START_REPLY_SIZE 8
// Fields, with the zero that ends the text.
#define KC_START_SERVICE_SIZE 48
#define KC_START_NAME_SIZE 256
// What follows "keychain-" in the name of a service.
#define KC_START_METHOD_MAX 32

// What the administrator's services for another person's approval are called.
#define KC_START_APPROVAL "keychain-approval"

enum kc_start_word {
    KC_START_STARTED = 1,
    KC_START_ENDED = 2,
    // Refusals. The record, or what came with it, is none of this version.
    KC_START_BAD_REQUEST = 0x8001,
    KC_START_OTHER_VERSION = 0x8002,
    // The peer is not this installation's keychaind.
    KC_START_NOT_ALLOWED = 0x8003,
    // PAM has no file for the service.
    KC_START_NO_SERVICE = 0x8004,
    // As many questions are open as may be, of this user or of all.
    KC_START_BUSY = 0x8005,
    // keychain-auth is not installed as it should be, or the machine has no room for a process.
    KC_START_FAILED = 0x8006,
};

enum kc_start_status {
    KC_START_OK = 0,
    KC_START_MALFORMED,
    // Another version than KC_START_VERSION.
    KC_START_FOREIGN,
};

struct kc_start_request {
    // Whose question it is: the account's own user or, of an approval, the asker's.
    uint32_t user;
    char service[KC_START_SERVICE_SIZE];
    char account[KC_START_NAME_SIZE];
    // Empty unless the service is KC_START_APPROVAL.
    char asker[KC_START_NAME_SIZE];
};

// False, and zeros, where the texts make no request that is decoded.
bool kc_start_request_encode(uint32_t user, const char *service, const char *account,
                             const char *asker, uint8_t bytes[KC_START_REQUEST_SIZE]);

// All zeros in `request` unless KC_START_OK.
enum kc_start_status kc_start_request_decode(const uint8_t *bytes, size_t count,
                                             struct kc_start_request *request);

void kc_start_reply_encode(enum kc_start_word word, uint8_t bytes[KC_START_REPLY_SIZE]);

// `word` is set where KC_START_OK.
enum kc_start_status kc_start_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_start_word *word);

#endif
