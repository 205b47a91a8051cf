// SPDX-License-Identifier: Apache-2.0
//
// The frames between pam_keychain.so and keychaind, defined once for both.
//
//     header (12 bytes)   magic u32 | version u16 | verb u16 | length of the body u32
//     body of a request   uid u32 | ticket i32 | leader i32 | audit session u32 | flags u16
//                         then, each behind its length u16, in this order: account, service, tty,
//                         logind session, password, new password
//     body of a reply     accepted: nothing; accepted with a notice: the notice u16;
//                         refused: the reason u16; the number: u32
//
// Numbers are little-endian. A frame is at most KC_LOGIN_FRAME_MAX bytes; the header is checked
// before a byte of the body is read, so that no peer can make the other side allocate anything.
// Magic, version and the header's size are those of every version. A frame of another version is
// refused with the reason that says which side is older; a reply of another version says the same.

#ifndef KC_LOGIN_FRAME_H
#define KC_LOGIN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KC_LOGIN_MAGIC UINT32_C(0x4c46434b) // "KCFL"
#define KC_LOGIN_VERSION UINT16_C(1)
#define KC_LOGIN_HEADER_SIZE 12
#define KC_LOGIN_FRAME_MAX 4096
// Longer than any name, tty or session of Linux.
#define KC_LOGIN_TEXT_MAX 255
// Longer than PAM_MAX_RESP_SIZE, the longest answer that PAM passes on.
#define KC_LOGIN_PASSWORD_MAX 1023
// The kernel's value for "no audit session".
#define KC_LOGIN_NO_AUDIT_SESSION UINT32_MAX

enum kc_login_verb {
    KC_LOGIN_OPEN_SESSION = 1,
    KC_LOGIN_CLOSE_SESSION = 2,
    KC_LOGIN_OFFER_PASSWORD = 3,
    KC_LOGIN_CHANGE_PASSWORD = 4,
    // Root gave the account another password without knowing the old one.
    KC_LOGIN_RESET_PASSWORD = 5,
    // Asks, before a ticket is made, whose it is to be: the number of the process that keeps the
    // user's keychains. Has the uid alone, all else is zero or empty.
    KC_LOGIN_NUMBER = 6,
    KC_LOGIN_ACCEPTED = 0x8001,
    KC_LOGIN_REFUSED = 0x8002,
    KC_LOGIN_ACCEPTED_WITH_NOTICE = 0x8003,
    // The answer to KC_LOGIN_NUMBER alone.
    KC_LOGIN_NUMBER_IS = 0x8004,
};

// Notices that the user is shown once.
enum kc_login_notice {
    // A login's password did not open the keychain, or root has replaced it.
    KC_LOGIN_PASSWORD_DIFFERS = 1,
};

enum kc_login_reason {
    KC_LOGIN_WRONG_PASSWORD = 1,
    KC_LOGIN_BUSY = 3,
    KC_LOGIN_INTERNAL = 4,
    // The peer may not send that request.
    KC_LOGIN_NOT_ALLOWED = 5,
    // The request makes no sense, such as a ticket that is none.
    KC_LOGIN_BAD_REQUEST = 6,
    KC_LOGIN_NO_SESSION = 7,
    // The daemon, or the module, speaks an older version of these frames than the other side.
    KC_LOGIN_OLDER_SERVICE = 8,
    KC_LOGIN_OLDER_MODULE = 9,
};

enum kc_login_status {
    KC_LOGIN_OK = 0,
    // Fewer bytes than the header says.
    KC_LOGIN_TRUNCATED,
    // Other bytes than this protocol's.
    KC_LOGIN_FOREIGN,
    // This protocol, in an older or newer version.
    KC_LOGIN_OLDER,
    KC_LOGIN_NEWER,
    // Longer than KC_LOGIN_FRAME_MAX, or a field longer than its limit.
    KC_LOGIN_TOO_LONG,
    // All other errors; no honest peer makes them.
    KC_LOGIN_MALFORMED,
};

// Bytes that belong to another part: they are never freed here, and valid as long as the buffer
// that they point into.
struct kc_login_view {
    const uint8_t *bytes;
    size_t count;
};

struct kc_login_frame {
    enum kc_login_verb verb;

    // Requests. Fields that a verb does not use are zero.
    uint32_t uid;
    // The serial of the ticket in the session keyring; 0 where none could be made.
    int32_t ticket;
    // The process in which PAM runs.
    int32_t leader;
    uint32_t audit_session;
    bool is_remote;
    // The host wants no messages to the user, so notices must wait.
    bool is_silent;
    // The user was authenticated on this handle, with the password or without any. False where
    // another user opens the session (root's su, cron), or where another process authenticated (a
    // public key).
    bool is_authenticated;
    struct kc_login_view account;
    struct kc_login_view service;
    struct kc_login_view tty;
    struct kc_login_view logind_session;
    // The flags tell an empty password from an absent one.
    bool has_password;
    bool has_new_password;
    struct kc_login_view password;
    struct kc_login_view new_password;

    // Replies: of refusals, and of acceptances with a notice.
    uint16_t reason;
    uint16_t notice;
    // Of KC_LOGIN_NUMBER_IS. 0 where the process has root's number.
    uint32_t number;
};

// Checks a name, tty or session: within its limit, and without control characters, which would end
// lines in logs and records.
enum kc_login_status kc_login_text_check(struct kc_login_view text);

// Checks a header and returns the number of bytes of the body in `*body_count`.
enum kc_login_status kc_login_header_check(const uint8_t header[KC_LOGIN_HEADER_SIZE],
                                           size_t *body_count);

// Writes the frame into `buffer` and its length into `*count`. On failure `*count` is 0.
enum kc_login_status kc_login_frame_encode(const struct kc_login_frame *frame, uint8_t *buffer,
                                           size_t capacity, size_t *count);

// Reads exactly one frame of `count` bytes; the views point into `buffer`. On failure `*frame` is
// all zero.
enum kc_login_status kc_login_frame_decode(const uint8_t *buffer, size_t count,
                                           struct kc_login_frame *frame);

#endif
