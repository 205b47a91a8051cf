// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a request and as a reply: refused, or else writing what was read gives the same bytes
// again.
#include "fuzz.h"
#include "start_record.h"

#include <string.h>

static void check_authentication(const struct kc_start_request *request) {
    REQUIRE(strncmp(request->service, "keychain-", 9) == 0);
    REQUIRE(strchr(request->service, '/') == NULL && request->account[0] != '\0');
    REQUIRE((request->asker[0] != '\0') == (strcmp(request->service, KC_START_APPROVAL) == 0));
}

static void check_policy(const struct kc_start_request *request) {
    size_t number = 0;
    for (const char *folder = kc_start_next_folder(request, NULL); folder != NULL;
         folder = kc_start_next_folder(request, folder)) {
        REQUIRE(*folder == '/' && strlen(folder) < KC_START_FOLDER_SIZE);
        REQUIRE(++number <= KC_START_FOLDERS_MAX);
    }
    REQUIRE(request->user == 0);
}

static size_t encode(const struct kc_start_request *request, uint8_t *bytes) {
    switch (request->program) {
    case KC_START_AUTHENTICATION:
        check_authentication(request);
        return kc_start_encode_authentication(request->user, request->service, request->account,
                                              request->asker, bytes);
    case KC_START_IMPORT:
        REQUIRE(request->seconds >= 1 && request->seconds <= KC_START_SECONDS_MAX);
        return kc_start_encode_import(request->user, request->seconds, bytes);
    case KC_START_POLICY:
        check_policy(request);
        return kc_start_encode_policy((const uint8_t *)request->folders, sizeof request->folders,
                                      bytes);
    case KC_START_TPM:
        REQUIRE(request->registers < 1U << KC_START_REGISTERS);
        return kc_start_encode_tpm(request->user, request->task, request->registers, bytes);
    case KC_START_SECURITY_KEY:
        return kc_start_encode_security_key(request->user, request->task, bytes);
    case KC_START_BIND: return kc_start_encode_bind(request->user, bytes);
    case KC_START_ADOPT:
        REQUIRE(request->number >= KC_START_NUMBER_FIRST);
        REQUIRE(request->number < KC_START_NUMBER_FIRST + KC_START_NUMBERS);
        return kc_start_encode_adopt(request->user, request->number, bytes);
    case KC_START_END: return kc_start_encode_end(request->user, request->number, bytes);
    }
    REQUIRE(false);
    return 0;
}

static void check_request(const uint8_t *bytes, size_t count) {
    static const struct kc_start_request nothing;
    struct kc_start_request request;
    if (kc_start_request_decode(bytes, count, &request) != KC_START_OK) {
        REQUIRE(memcmp(&request, &nothing, sizeof request) == 0);
        return;
    }
    uint8_t again[KC_START_REQUEST_MAX];
    REQUIRE(count <= sizeof again && request.user != UINT32_MAX);
    REQUIRE(encode(&request, again) == count && memcmp(again, bytes, count) == 0);
}

static void check_reply(const uint8_t *bytes, size_t count) {
    enum kc_start_word word;
    uint32_t status;
    if (kc_start_reply_decode(bytes, count, &word, &status) != KC_START_OK) return;
    uint8_t again[KC_START_REPLY_SIZE];
    kc_start_reply_encode(word, status, again);
    REQUIRE(count == sizeof again && memcmp(again, bytes, count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const size_t sizes[] = {572, 16, KC_START_REQUEST_MAX, 20, 16, 12, 16, 16};
    check_request(bytes, count);
    check_reply(bytes, count);
    // And with an honest head and length for each request, so that the fields are reached.
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        uint8_t honest[KC_START_REQUEST_MAX] = {'K', 'C', 'S', 'T', 3, 0, (uint8_t)(index + 1), 0};
        size_t room = sizes[index] - 8;
        size_t rest = count < room ? count : room;
        if (rest > 0) memcpy(honest + 8, bytes, rest);
        check_request(honest, sizes[index]);
    }
    return 0;
}
