// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a request and as a reply: refused, or else writing what was read gives the same bytes
// again.
#include "fuzz.h"
#include "start_record.h"

#include <string.h>

static void check_request(const uint8_t *bytes, size_t count) {
    static const struct kc_start_request nothing;
    struct kc_start_request request;
    if (kc_start_request_decode(bytes, count, &request) != KC_START_OK) {
        REQUIRE(memcmp(&request, &nothing, sizeof request) == 0);
        return;
    }
    uint8_t again[KC_START_REQUEST_SIZE];
    REQUIRE(count == sizeof again && request.user != UINT32_MAX);
    REQUIRE(strncmp(request.service, "keychain-", 9) == 0 && strchr(request.service, '/') == NULL);
    REQUIRE(request.account[0] != '\0');
    REQUIRE((request.asker[0] != '\0') == (strcmp(request.service, KC_START_APPROVAL) == 0));
    REQUIRE(kc_start_request_encode(request.user, request.service, request.account, request.asker,
                                    again));
    REQUIRE(memcmp(again, bytes, count) == 0);
}

static void check_reply(const uint8_t *bytes, size_t count) {
    enum kc_start_word word;
    if (kc_start_reply_decode(bytes, count, &word) != KC_START_OK) return;
    uint8_t again[KC_START_REPLY_SIZE];
    kc_start_reply_encode(word, again);
    REQUIRE(count == sizeof again && memcmp(again, bytes, count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    check_request(bytes, count);
    check_reply(bytes, count);
    // And with an honest head and length, so that the fields are reached.
    uint8_t honest[KC_START_REQUEST_SIZE] = {'K', 'C', 'A', 'U', 1, 0, 0, 0};
    size_t rest = count < sizeof honest - 8 ? count : sizeof honest - 8;
    if (rest > 0) memcpy(honest + 8, bytes, rest);
    check_request(honest, sizeof honest);
    return 0;
}
