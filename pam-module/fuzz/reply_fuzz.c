// SPDX-License-Identifier: Apache-2.0
//
// A daemon that answers with the input's bytes, in pieces of the sizes that its first bytes give.
// The exchange is the module's own; only the way to the socket is replaced.
#include "daemon.c" // NOLINT: for what is static there

#include "fuzz.h"

#include <string.h>

int kc_trusted_socket(const char *path, enum kc_door door) {
    (void)path;
    (void)door;
    errno = ENOENT;
    return -1;
}

static void answer(int daemon, const uint8_t *bytes, size_t count) {
    size_t piece = count > 0 ? (size_t)1 + bytes[0] % 16 : 1;
    if (count > 0) {
        bytes++;
        count--;
    }
    // A longer input is cut, as no more than one reply is ever read.
    if (count > 8192) count = 8192;
    while (count > 0) {
        size_t part = piece < count ? piece : count;
        if (send(daemon, bytes, part, MSG_NOSIGNAL) != (ssize_t)part) return;
        bytes += part;
        count -= part;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    int pair[2];
    struct kc_login_frame reply = {0};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    answer(pair[0], bytes, count);
    REQUIRE(shutdown(pair[0], SHUT_WR) == 0);
    if (receive_reply(pair[1], &reply, now_ms() + 500)) {
        // Checked field by field here, and not with the code under test.
        REQUIRE(count >= 13 && memcmp(bytes + 1, "KCFL", 4) == 0);
        uint16_t version = (uint16_t)(bytes[5] | bytes[6] << 8);
        uint16_t verb = (uint16_t)(bytes[7] | bytes[8] << 8);
        REQUIRE(reply.verb >= KC_LOGIN_ACCEPTED && reply.verb <= KC_LOGIN_NUMBER_IS);
        REQUIRE(version != 0 && (version == 1 || reply.reason == KC_LOGIN_OLDER_MODULE));
        REQUIRE(verb == reply.verb || version != 1);
        REQUIRE((reply.verb == KC_LOGIN_REFUSED) == (reply.reason != 0));
        REQUIRE((reply.verb == KC_LOGIN_ACCEPTED_WITH_NOTICE) == (reply.notice != 0));
        REQUIRE(reply.number == 0 || reply.verb == KC_LOGIN_NUMBER_IS);
        REQUIRE(reply.account.count == 0 && reply.password.count == 0);
    } else {
        REQUIRE(errno == EPROTO || errno == ECONNRESET);
    }
    REQUIRE(close(pair[0]) == 0 && close(pair[1]) == 0);
    return 0;
}
