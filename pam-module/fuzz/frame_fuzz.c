// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a frame: refused, or else every view lies within them, and encoding the decoded frame
// gives the same bytes again.
#include "fuzz.h"
#include "login_frame.h"

#include <string.h>

static bool lies_within(struct kc_login_view view, const uint8_t *bytes, size_t count) {
    if (view.count == 0) return true;
    return view.bytes >= bytes && view.bytes + view.count <= bytes + count;
}

static void check(const uint8_t *bytes, size_t count) {
    static const struct kc_login_frame nothing;
    struct kc_login_frame frame;
    size_t body = 0;
    enum kc_login_status status = kc_login_frame_decode(bytes, count, &frame);
    if (status != KC_LOGIN_OK) {
        REQUIRE(memcmp(&frame, &nothing, sizeof frame) == 0);
        return;
    }
    REQUIRE(count <= KC_LOGIN_FRAME_MAX);
    REQUIRE(kc_login_header_check(bytes, &body) == KC_LOGIN_OK);
    REQUIRE(body + KC_LOGIN_HEADER_SIZE == count);
    const struct kc_login_view views[] = {frame.account,        frame.service,  frame.tty,
                                          frame.logind_session, frame.password, frame.new_password};
    for (size_t index = 0; index < sizeof views / sizeof views[0]; index++) {
        REQUIRE(lies_within(views[index], bytes, count));
    }
    uint8_t again[KC_LOGIN_FRAME_MAX];
    size_t written = 0;
    REQUIRE(kc_login_frame_encode(&frame, again, sizeof again, &written) == KC_LOGIN_OK);
    REQUIRE(written == count && memcmp(again, bytes, count) == 0);
    REQUIRE(kc_login_frame_encode(&frame, again, count - 1, &written) != KC_LOGIN_OK);
    REQUIRE(written == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    size_t body = 0;
    if (count >= KC_LOGIN_HEADER_SIZE && kc_login_header_check(bytes, &body) == KC_LOGIN_OK) {
        REQUIRE(body <= KC_LOGIN_FRAME_MAX - KC_LOGIN_HEADER_SIZE);
    }
    check(bytes, count);
    // Runs once more with a valid header, so that bodies are reached.
    if (count > KC_LOGIN_HEADER_SIZE && count <= KC_LOGIN_FRAME_MAX) {
        uint8_t *honest = malloc(count);
        REQUIRE(honest != NULL);
        memcpy(honest, bytes, count);
        size_t rest = count - KC_LOGIN_HEADER_SIZE;
        const uint8_t header[] = {0x4b, 0x43, 0x46, 0x4c, 1, 0};
        memcpy(honest, header, sizeof header);
        honest[8] = (uint8_t)rest;
        honest[9] = (uint8_t)(rest >> 8);
        honest[10] = honest[11] = 0;
        check(honest, count);
        free(honest);
    }
    return 0;
}
