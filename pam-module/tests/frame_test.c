// SPDX-License-Identifier: Apache-2.0
#include "login_frame.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static struct kc_login_view view(const char *text) {
    return (struct kc_login_view){(const uint8_t *)text, strlen(text)};
}

static bool same(struct kc_login_view one, struct kc_login_view other) {
    return one.count == other.count &&
           (one.count == 0 || memcmp(one.bytes, other.bytes, one.count) == 0);
}

static struct kc_login_frame opening(void) {
    return (struct kc_login_frame){
        .verb = KC_LOGIN_OPEN_SESSION,
        .uid = 1000,
        .ticket = -5,
        .leader = 77,
        .audit_session = KC_LOGIN_NO_AUDIT_SESSION,
        .is_remote = true,
        .account = view("alice"),
        .service = view("sshd"),
        .tty = view("ssh"),
        .logind_session = view("c1"),
        .has_password = true,
        .password = view("correct horse"),
    };
}

// Decodes from memory that ends where the frame ends, so that the sanitizer sees a byte too far.
static enum kc_login_status decode_tightly(const uint8_t *bytes, size_t count,
                                           struct kc_login_frame *frame) {
    uint8_t *copy = malloc(count == 0 ? 1 : count);
    if (copy == NULL) abort();
    if (count > 0) memcpy(copy, bytes, count);
    enum kc_login_status status = kc_login_frame_decode(copy, count, frame);
    if (status == KC_LOGIN_OK) {
        // Touch all that the views promise.
        const struct kc_login_view views[] = {frame->account,  frame->service,
                                              frame->tty,      frame->logind_session,
                                              frame->password, frame->new_password};
        unsigned sum = 0;
        for (size_t field = 0; field < sizeof views / sizeof views[0]; field++) {
            for (size_t index = 0; index < views[field].count; index++) {
                sum += views[field].bytes[index];
            }
        }
        if (sum == UINT32_MAX) abort();
    }
    free(copy);
    return status;
}

static bool round_trip(void) {
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    struct kc_login_frame in = opening();
    struct kc_login_frame out;
    HOLDS(kc_login_frame_encode(&in, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(kc_login_frame_decode(buffer, count, &out) == KC_LOGIN_OK);
    HOLDS(out.verb == in.verb && out.uid == in.uid && out.ticket == in.ticket);
    HOLDS(out.leader == in.leader && out.audit_session == in.audit_session && out.is_remote);
    HOLDS(same(out.account, in.account) && same(out.service, in.service));
    HOLDS(same(out.tty, in.tty) && same(out.logind_session, in.logind_session));
    HOLDS(out.has_password && same(out.password, in.password) && !out.has_new_password);
    return true;
}

static bool layout(void) {
    static const uint8_t refused[] = {'K', 'C', 'F', 'L', 1, 0, 2, 0x80, 2, 0, 0, 0, 3, 0};
    struct kc_login_frame frame = {.verb = KC_LOGIN_REFUSED, .reason = KC_LOGIN_BUSY};
    uint8_t buffer[64];
    size_t count = 0;
    // "KCFL" read as a little-endian number is what the header calls magic.
    static const uint8_t magic[] = {0x4b, 0x43, 0x46, 0x4c};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(count == sizeof refused && memcmp(buffer, refused, count) == 0);
    HOLDS(memcmp(buffer, magic, sizeof magic) == 0);
    static const uint8_t noticed[] = {'K', 'C', 'F', 'L', 1, 0, 3, 0x80, 2, 0, 0, 0, 1, 0};
    frame = (struct kc_login_frame){.verb = KC_LOGIN_ACCEPTED_WITH_NOTICE,
                                    .notice = KC_LOGIN_PASSWORD_DIFFERS};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(count == sizeof noticed && memcmp(buffer, noticed, count) == 0);
    struct kc_login_frame out;
    HOLDS(kc_login_frame_decode(buffer, count, &out) == KC_LOGIN_OK);
    HOLDS(out.notice == KC_LOGIN_PASSWORD_DIFFERS && out.reason == 0);
    return true;
}

static bool numbers(void) {
    static const uint8_t told[] = {'K', 'C', 'F', 'L', 1, 0, 4, 0x80, 4, 0, 0, 0, 7, 0, 0, 0x7b};
    struct kc_login_frame frame = {.verb = KC_LOGIN_NUMBER_IS, .number = 0x7b000007};
    struct kc_login_frame out;
    uint8_t buffer[64];
    size_t count = 0;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(count == sizeof told && memcmp(buffer, told, count) == 0);
    HOLDS(decode_tightly(buffer, count, &out) == KC_LOGIN_OK && out.number == frame.number);
    frame.number = 0;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(decode_tightly(buffer, count, &out) == KC_LOGIN_OK && out.verb == KC_LOGIN_NUMBER_IS);
    frame.number = UINT32_MAX;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    memset(buffer + KC_LOGIN_HEADER_SIZE, 0xff, 4);
    HOLDS(decode_tightly(buffer, sizeof told, &out) == KC_LOGIN_MALFORMED);
    return true;
}

static bool question(void) {
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    struct kc_login_frame frame = {.verb = KC_LOGIN_NUMBER, .uid = 1000};
    struct kc_login_frame out;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(count == 42 && buffer[6] == 6 && buffer[12] == 0xe8 && buffer[13] == 3);
    HOLDS(decode_tightly(buffer, count, &out) == KC_LOGIN_OK);
    HOLDS(out.verb == KC_LOGIN_NUMBER && out.uid == 1000);
    // Nothing but the uid belongs to it.
    for (size_t index = 16; index < count; index++) {
        buffer[index] ^= 1;
        HOLDS(decode_tightly(buffer, count, &out) != KC_LOGIN_OK);
        buffer[index] ^= 1;
    }
    frame.account = view("alice");
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame = (struct kc_login_frame){.verb = KC_LOGIN_NUMBER, .uid = 1000, .has_password = true};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    return true;
}

static bool absence(void) {
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    struct kc_login_frame frame = opening();
    struct kc_login_frame out;
    frame.password.count = 0;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(kc_login_frame_decode(buffer, count, &out) == KC_LOGIN_OK);
    HOLDS(out.has_password && out.password.count == 0);
    frame.has_password = false;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(kc_login_frame_decode(buffer, count, &out) == KC_LOGIN_OK);
    HOLDS(!out.has_password);
    return true;
}

static bool limits(void) {
    static uint8_t many[KC_LOGIN_FRAME_MAX];
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    memset(many, 'x', sizeof many);
    struct kc_login_frame frame = opening();
    frame.account = frame.service = frame.tty = frame.logind_session =
        (struct kc_login_view){many, KC_LOGIN_TEXT_MAX};
    frame.verb = KC_LOGIN_CHANGE_PASSWORD;
    frame.has_new_password = true;
    frame.password = frame.new_password = (struct kc_login_view){many, KC_LOGIN_PASSWORD_MAX};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_OK);
    HOLDS(kc_login_frame_encode(&frame, buffer, count - 1, &count) == KC_LOGIN_TOO_LONG);
    HOLDS(count == 0);
    frame.tty.count++;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_TOO_LONG);
    frame.tty.count--;
    frame.new_password.count++;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_TOO_LONG);
    return true;
}

static bool senseless(void) {
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    struct kc_login_frame frame = opening();
    frame.account = view("");
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame = opening();
    frame.account = view("two\nlines");
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame = opening();
    frame.verb = KC_LOGIN_CLOSE_SESSION;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame.verb = KC_LOGIN_RESET_PASSWORD;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame.verb = KC_LOGIN_CHANGE_PASSWORD;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame.verb = KC_LOGIN_OFFER_PASSWORD;
    frame.has_password = false;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame = (struct kc_login_frame){.verb = KC_LOGIN_ACCEPTED_WITH_NOTICE};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    frame = (struct kc_login_frame){.verb = KC_LOGIN_REFUSED};
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer, &count) == KC_LOGIN_MALFORMED);
    return true;
}

static bool lying_header(void) {
    uint8_t header[KC_LOGIN_HEADER_SIZE] = {'K', 'C', 'F', 'L', 1, 0, 1, 0, 0xf4, 0x0f, 0, 0};
    size_t count = 0;
    HOLDS(kc_login_header_check(header, &count) == KC_LOGIN_OK && count == 4084);
    header[8] = 0xf5;
    HOLDS(kc_login_header_check(header, &count) == KC_LOGIN_TOO_LONG && count == 0);
    memset(header + 8, 0xff, 4);
    HOLDS(kc_login_header_check(header, &count) == KC_LOGIN_TOO_LONG && count == 0);
    // The version is read before anything that another version may mean otherwise.
    header[4] = 2;
    HOLDS(kc_login_header_check(header, &count) == KC_LOGIN_NEWER && count == 0);
    header[4] = 0;
    HOLDS(kc_login_header_check(header, &count) == KC_LOGIN_FOREIGN);
    return true;
}

static bool cuts(void) {
    uint8_t buffer[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    struct kc_login_frame frame = opening();
    struct kc_login_frame out;
    HOLDS(kc_login_frame_encode(&frame, buffer, sizeof buffer - 1, &count) == KC_LOGIN_OK);
    for (size_t cut = 0; cut < count; cut++) {
        HOLDS(decode_tightly(buffer, cut, &out) == KC_LOGIN_TRUNCATED);
        HOLDS(out.account.bytes == NULL && out.verb == 0);
    }
    buffer[count] = 0;
    HOLDS(decode_tightly(buffer, count + 1, &out) == KC_LOGIN_MALFORMED);
    // The same cuts, with a header that fits them.
    for (size_t cut = KC_LOGIN_HEADER_SIZE; cut < count; cut++) {
        size_t body = cut - KC_LOGIN_HEADER_SIZE;
        buffer[8] = (uint8_t)(body & 0xff);
        buffer[9] = (uint8_t)(body >> 8);
        HOLDS(decode_tightly(buffer, cut, &out) == KC_LOGIN_MALFORMED);
    }
    return true;
}

// xorshift: the same bytes on every machine, so that a failure can be had again.
static uint32_t next_random(void) {
    static uint32_t state = 0x9e3779b9;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static bool fuzz(void) {
    uint8_t whole[KC_LOGIN_FRAME_MAX];
    uint8_t bytes[KC_LOGIN_FRAME_MAX];
    size_t count = 0;
    int accepted = 0;
    struct kc_login_frame frame = opening();
    struct kc_login_frame out;
    HOLDS(kc_login_frame_encode(&frame, whole, sizeof whole, &count) == KC_LOGIN_OK);
    for (int round = 0; round < 200000; round++) {
        size_t length = count;
        memcpy(bytes, whole, count);
        if (round % 2 == 0) {
            // Random bodies behind a header in order.
            length = KC_LOGIN_HEADER_SIZE + next_random() % 300;
            for (size_t index = KC_LOGIN_HEADER_SIZE; index < length; index++) {
                bytes[index] = (uint8_t)next_random();
            }
            bytes[6] = (uint8_t)(1 + next_random() % 4);
            bytes[8] = (uint8_t)((length - KC_LOGIN_HEADER_SIZE) & 0xff);
            bytes[9] = (uint8_t)((length - KC_LOGIN_HEADER_SIZE) >> 8);
        } else {
            for (uint32_t changes = 1 + next_random() % 3; changes > 0; changes--) {
                bytes[next_random() % count] = (uint8_t)next_random();
            }
        }
        if (decode_tightly(bytes, length, &out) != KC_LOGIN_OK) continue;
        accepted++;
        // Whatever is accepted says the same when it is written again.
        uint8_t again[KC_LOGIN_FRAME_MAX];
        size_t again_count = 0;
        HOLDS(kc_login_frame_decode(bytes, length, &out) == KC_LOGIN_OK);
        HOLDS(kc_login_frame_encode(&out, again, sizeof again, &again_count) == KC_LOGIN_OK);
        HOLDS(again_count == length && memcmp(again, bytes, length) == 0);
    }
    HOLDS(accepted > 0);
    return true;
}

int main(void) {
    const struct test tests[] = {
        {"frame: what is written is read", round_trip},
        {"frame: the layout is the documented one", layout},
        {"frame: a number is told, and that of no user is none", numbers},
        {"frame: the question for a number has a uid and nothing else", question},
        {"frame: an empty password is not an absent one", absence},
        {"frame: every field has its limit", limits},
        {"frame: what makes no sense is not written", senseless},
        {"frame: a header that lies is refused before the body", lying_header},
        {"frame: a cut frame is refused at every byte", cuts},
        {"frame: 200,000 damaged frames are refused or say what they said", fuzz},
    };
    return RUN(tests);
}
