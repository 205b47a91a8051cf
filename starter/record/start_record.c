// SPDX-License-Identifier: Apache-2.0
#include "start_record.h"

#include <string.h>

enum {
    VERSION_AT = 4,
    ZERO_AT = 6,
    USER_AT = 8,
    SERVICE_AT = 12,
    ACCOUNT_AT = SERVICE_AT + KC_START_SERVICE_SIZE,
    ASKER_AT = ACCOUNT_AT + KC_START_NAME_SIZE,
};
_Static_assert(ASKER_AT + KC_START_NAME_SIZE == KC_START_REQUEST_SIZE, "the fields fill a request");

static const char prefix[] = "keychain-";

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

static void put_head(uint8_t *bytes) {
    put(bytes, KC_START_MAGIC, 4);
    put(bytes + VERSION_AT, KC_START_VERSION, 2);
}

// Of a record with at least the size of a reply.
static enum kc_start_status check_head(const uint8_t *bytes) {
    if (take(bytes, 4) != KC_START_MAGIC) return KC_START_MALFORMED;
    return take(bytes + VERSION_AT, 2) == KC_START_VERSION ? KC_START_OK : KC_START_FOREIGN;
}

static bool put_text(uint8_t *field, size_t size, const char *text) {
    size_t count = strnlen(text, size);
    if (count == size) return false;
    memcpy(field, text, count);
    return true;
}

// Zeros fill the field behind the text, so that a request is written in one way only.
static bool take_text(const uint8_t *field, size_t size, char *text) {
    size_t count = strnlen((const char *)field, size);
    if (count == size) return false;
    for (size_t index = count; index < size; index++)
        if (field[index] != 0) return false;
    memcpy(text, field, size);
    return true;
}

// Only services of ours, so that no user is asked in the name of another program.
static bool is_service(const char *name) {
    if (strncmp(name, prefix, strlen(prefix)) != 0) return false;
    const char *method = name + strlen(prefix);
    size_t count = strspn(method, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return count >= 1 && count <= KC_START_METHOD_MAX && method[count] == '\0';
}

static bool is_name(const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) return false;
    return *name != '\0';
}

static bool makes_sense(const struct kc_start_request *request) {
    bool is_approval = strcmp(request->service, KC_START_APPROVAL) == 0;
    // The kernel's word for no user at all.
    return request->user != UINT32_MAX && is_service(request->service) &&
           is_name(request->account) &&
           (is_approval ? is_name(request->asker) && strcmp(request->asker, request->account) != 0
                        : request->asker[0] == '\0');
}

bool kc_start_request_encode(uint32_t user, const char *service, const char *account,
                             const char *asker, uint8_t bytes[KC_START_REQUEST_SIZE]) {
    struct kc_start_request same;
    memset(bytes, 0, KC_START_REQUEST_SIZE);
    put_head(bytes);
    put(bytes + USER_AT, user, 4);
    if (put_text(bytes + SERVICE_AT, KC_START_SERVICE_SIZE, service) &&
        put_text(bytes + ACCOUNT_AT, KC_START_NAME_SIZE, account) &&
        put_text(bytes + ASKER_AT, KC_START_NAME_SIZE, asker) &&
        kc_start_request_decode(bytes, KC_START_REQUEST_SIZE, &same) == KC_START_OK) {
        return true;
    }
    memset(bytes, 0, KC_START_REQUEST_SIZE);
    return false;
}

enum kc_start_status kc_start_request_decode(const uint8_t *bytes, size_t count,
                                             struct kc_start_request *request) {
    memset(request, 0, sizeof *request);
    if (count < KC_START_REPLY_SIZE) return KC_START_MALFORMED;
    enum kc_start_status status = check_head(bytes);
    if (status != KC_START_OK) return status;
    if (count == KC_START_REQUEST_SIZE && take(bytes + ZERO_AT, 2) == 0 &&
        take_text(bytes + SERVICE_AT, KC_START_SERVICE_SIZE, request->service) &&
        take_text(bytes + ACCOUNT_AT, KC_START_NAME_SIZE, request->account) &&
        take_text(bytes + ASKER_AT, KC_START_NAME_SIZE, request->asker)) {
        request->user = take(bytes + USER_AT, 4);
        if (makes_sense(request)) return KC_START_OK;
    }
    memset(request, 0, sizeof *request);
    return KC_START_MALFORMED;
}

void kc_start_reply_encode(enum kc_start_word word, uint8_t bytes[KC_START_REPLY_SIZE]) {
    put_head(bytes);
    put(bytes + ZERO_AT, (uint32_t)word, 2);
}

enum kc_start_status kc_start_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_start_word *word) {
    if (count != KC_START_REPLY_SIZE) return KC_START_MALFORMED;
    enum kc_start_status status = check_head(bytes);
    if (status != KC_START_OK) return status;
    uint32_t said = take(bytes + ZERO_AT, 2);
    if ((said < KC_START_STARTED || said > KC_START_ENDED) &&
        (said < KC_START_BAD_REQUEST || said > KC_START_FAILED)) {
        return KC_START_MALFORMED;
    }
    *word = (enum kc_start_word)said;
    return KC_START_OK;
}
