// SPDX-License-Identifier: Apache-2.0
#include "start_record.h"

#include <string.h>

enum {
    VERSION_AT = 4,
    // A reply has its word there.
    PROGRAM_AT = 6,
    // A reply has its status there.
    USER_AT = 8,
    SERVICE_AT = KC_START_HEAD_SIZE,
    ACCOUNT_AT = SERVICE_AT + KC_START_SERVICE_SIZE,
    ASKER_AT = ACCOUNT_AT + KC_START_NAME_SIZE,
    SECONDS_AT = KC_START_HEAD_SIZE,
    FOLDERS_AT = KC_START_HEAD_SIZE,
    TASK_AT = KC_START_HEAD_SIZE,
    REGISTERS_AT = TASK_AT + 4,
    NUMBER_AT = KC_START_HEAD_SIZE,
};
_Static_assert(FOLDERS_AT + KC_START_FOLDERS_SIZE == KC_START_REQUEST_MAX,
               "the folders fill the largest request");
_Static_assert(KC_START_FOLDERS_MAX *KC_START_FOLDER_SIZE == KC_START_FOLDERS_SIZE,
               "the field has room for the most folders with the longest paths");

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

// Of a record with at least the size of a head.
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

static bool is_zero(const uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++)
        if (bytes[index] != 0) return false;
    return true;
}

// Zeros fill the field behind the text, so that a request is written in one way only.
static bool take_text(const uint8_t *field, size_t size, char *text) {
    size_t count = strnlen((const char *)field, size);
    if (count == size || !is_zero(field + count, size - count)) return false;
    memcpy(text, field, size);
    return true;
}

static bool is_name(const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) return false;
    return *name != '\0';
}

// ---- Authentication ----------------------------------------------------------------------------

// Only services of ours, so that no user is asked in the name of another program.
static bool is_service(const char *name) {
    if (strncmp(name, prefix, strlen(prefix)) != 0) return false;
    const char *method = name + strlen(prefix);
    size_t count = strspn(method, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return count >= 1 && count <= KC_START_METHOD_MAX && method[count] == '\0';
}

static bool take_authentication(const uint8_t *bytes, struct kc_start_request *request) {
    if (!take_text(bytes + SERVICE_AT, KC_START_SERVICE_SIZE, request->service) ||
        !take_text(bytes + ACCOUNT_AT, KC_START_NAME_SIZE, request->account) ||
        !take_text(bytes + ASKER_AT, KC_START_NAME_SIZE, request->asker)) {
        return false;
    }
    bool is_approval = strcmp(request->service, KC_START_APPROVAL) == 0;
    return is_service(request->service) && is_name(request->account) &&
           (is_approval ? is_name(request->asker) && strcmp(request->asker, request->account) != 0
                        : request->asker[0] == '\0');
}

// ---- Policies ----------------------------------------------------------------------------------

const char *kc_start_next_folder(const struct kc_start_request *request, const char *folder) {
    const char *next = folder == NULL ? request->folders : folder + strlen(folder) + 1;
    bool is_there = next < request->folders + sizeof request->folders && *next != '\0';
    return is_there ? next : NULL;
}

static bool take_folders(const uint8_t *bytes, struct kc_start_request *request) {
    if (bytes[FOLDERS_AT + KC_START_FOLDERS_SIZE - 1] != 0) return false;
    memcpy(request->folders, bytes + FOLDERS_AT, KC_START_FOLDERS_SIZE);
    size_t number = 0;
    size_t used = 0;
    for (const char *folder = kc_start_next_folder(request, NULL); folder != NULL;
         folder = kc_start_next_folder(request, folder)) {
        if (*folder != '/' || !is_name(folder) || strlen(folder) >= KC_START_FOLDER_SIZE ||
            ++number > KC_START_FOLDERS_MAX) {
            return false;
        }
        used = (size_t)(folder - request->folders) + strlen(folder) + 1;
    }
    return request->user == 0 && is_zero(bytes + FOLDERS_AT + used, KC_START_FOLDERS_SIZE - used);
}

// ---- Others ------------------------------------------------------------------------------------

static bool take_seconds(const uint8_t *bytes, struct kc_start_request *request) {
    request->seconds = take(bytes + SECONDS_AT, 4);
    return request->seconds >= 1 && request->seconds <= KC_START_SECONDS_MAX;
}

static bool take_task(const uint8_t *bytes, struct kc_start_request *request) {
    uint32_t task = take(bytes + TASK_AT, 4);
    if (task != KC_START_MAKE && task != KC_START_OPEN) return false;
    request->task = (enum kc_start_task)task;
    return true;
}

static bool take_registers(const uint8_t *bytes, struct kc_start_request *request) {
    request->registers = take(bytes + REGISTERS_AT, 4);
    return request->registers >> KC_START_REGISTERS == 0 &&
           (request->task == KC_START_MAKE || request->registers == 0);
}

// ---- Numbers -----------------------------------------------------------------------------------

static bool take_number(const uint8_t *bytes, struct kc_start_request *request) {
    request->number = take(bytes + NUMBER_AT, 4);
    return request->number - KC_START_NUMBER_FIRST < KC_START_NUMBERS;
}

// ---- Requests ----------------------------------------------------------------------------------

// 0 for a number that is no request's.
static size_t size_for(uint32_t program) {
    switch (program) {
    case KC_START_AUTHENTICATION: return ASKER_AT + KC_START_NAME_SIZE;
    case KC_START_IMPORT: return SECONDS_AT + 4;
    case KC_START_POLICY: return FOLDERS_AT + KC_START_FOLDERS_SIZE;
    case KC_START_TPM: return REGISTERS_AT + 4;
    case KC_START_SECURITY_KEY: return TASK_AT + 4;
    case KC_START_BIND: return KC_START_HEAD_SIZE;
    case KC_START_ADOPT:
    case KC_START_END: return NUMBER_AT + 4;
    default: return 0;
    }
}

static bool take_fields(const uint8_t *bytes, struct kc_start_request *request) {
    switch (request->program) {
    case KC_START_AUTHENTICATION: return take_authentication(bytes, request);
    case KC_START_IMPORT: return take_seconds(bytes, request);
    case KC_START_POLICY: return take_folders(bytes, request);
    case KC_START_TPM: return take_task(bytes, request) && take_registers(bytes, request);
    case KC_START_SECURITY_KEY: return take_task(bytes, request);
    case KC_START_BIND: return true;
    case KC_START_ADOPT:
    case KC_START_END: return take_number(bytes, request);
    }
    return false;
}

static enum kc_start_status decode(const uint8_t *bytes, size_t count,
                                   struct kc_start_request *request) {
    if (count < KC_START_HEAD_SIZE) return KC_START_MALFORMED;
    enum kc_start_status status = check_head(bytes);
    if (status != KC_START_OK) return status;
    uint32_t program = take(bytes + PROGRAM_AT, 2);
    if (size_for(program) == 0 || size_for(program) != count) return KC_START_MALFORMED;
    request->program = (enum kc_start_program)program;
    request->user = take(bytes + USER_AT, 4);
    // The kernel's word for no user at all.
    if (request->user == UINT32_MAX) return KC_START_MALFORMED;
    return take_fields(bytes, request) ? KC_START_OK : KC_START_MALFORMED;
}

enum kc_start_status kc_start_request_decode(const uint8_t *bytes, size_t count,
                                             struct kc_start_request *request) {
    memset(request, 0, sizeof *request);
    enum kc_start_status status = decode(bytes, count, request);
    if (status != KC_START_OK) memset(request, 0, sizeof *request);
    return status;
}

static void begin(enum kc_start_program program, uint32_t user, uint8_t *bytes) {
    memset(bytes, 0, KC_START_REQUEST_MAX);
    put_head(bytes);
    put(bytes + PROGRAM_AT, program, 2);
    put(bytes + USER_AT, user, 4);
}

static size_t end(enum kc_start_program program, bool is_whole, uint8_t *bytes) {
    struct kc_start_request same;
    size_t size = size_for(program);
    if (is_whole && kc_start_request_decode(bytes, size, &same) == KC_START_OK) return size;
    memset(bytes, 0, KC_START_REQUEST_MAX);
    return 0;
}

size_t kc_start_encode_authentication(uint32_t user, const char *service, const char *account,
                                      const char *asker, uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_AUTHENTICATION, user, bytes);
    bool fits = put_text(bytes + SERVICE_AT, KC_START_SERVICE_SIZE, service) &&
                put_text(bytes + ACCOUNT_AT, KC_START_NAME_SIZE, account) &&
                put_text(bytes + ASKER_AT, KC_START_NAME_SIZE, asker);
    return end(KC_START_AUTHENTICATION, fits, bytes);
}

size_t kc_start_encode_import(uint32_t user, uint32_t seconds,
                              uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_IMPORT, user, bytes);
    put(bytes + SECONDS_AT, seconds, 4);
    return end(KC_START_IMPORT, true, bytes);
}

size_t kc_start_encode_policy(const uint8_t *folders, size_t count,
                              uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_POLICY, 0, bytes);
    bool fits = count <= KC_START_FOLDERS_SIZE;
    if (fits && count > 0) memcpy(bytes + FOLDERS_AT, folders, count);
    return end(KC_START_POLICY, fits, bytes);
}

size_t kc_start_encode_tpm(uint32_t user, enum kc_start_task task, uint32_t registers,
                           uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_TPM, user, bytes);
    put(bytes + TASK_AT, task, 4);
    put(bytes + REGISTERS_AT, registers, 4);
    return end(KC_START_TPM, true, bytes);
}

size_t kc_start_encode_security_key(uint32_t user, enum kc_start_task task,
                                    uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_SECURITY_KEY, user, bytes);
    put(bytes + TASK_AT, task, 4);
    return end(KC_START_SECURITY_KEY, true, bytes);
}

size_t kc_start_encode_bind(uint32_t user, uint8_t bytes[KC_START_REQUEST_MAX]) {
    begin(KC_START_BIND, user, bytes);
    return end(KC_START_BIND, true, bytes);
}

static size_t encode_number(enum kc_start_program program, uint32_t user, uint32_t number,
                            uint8_t *bytes) {
    begin(program, user, bytes);
    put(bytes + NUMBER_AT, number, 4);
    return end(program, true, bytes);
}

size_t kc_start_encode_adopt(uint32_t user, uint32_t number, uint8_t bytes[KC_START_REQUEST_MAX]) {
    return encode_number(KC_START_ADOPT, user, number, bytes);
}

size_t kc_start_encode_end(uint32_t user, uint32_t number, uint8_t bytes[KC_START_REQUEST_MAX]) {
    return encode_number(KC_START_END, user, number, bytes);
}

// ---- Replies -----------------------------------------------------------------------------------

static bool is_word(uint32_t word) {
    return (word >= KC_START_STARTED && word <= KC_START_DONE) ||
           (word >= KC_START_BAD_REQUEST && word <= KC_START_FOREIGN_FOLDER);
}

void kc_start_reply_encode(enum kc_start_word word, uint32_t status,
                           uint8_t bytes[KC_START_REPLY_SIZE]) {
    put_head(bytes);
    put(bytes + PROGRAM_AT, (uint32_t)word, 2);
    put(bytes + USER_AT, status, 4);
}

enum kc_start_status kc_start_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_start_word *word, uint32_t *status) {
    if (count != KC_START_REPLY_SIZE) return KC_START_MALFORMED;
    enum kc_start_status head = check_head(bytes);
    if (head != KC_START_OK) return head;
    uint32_t said = take(bytes + PROGRAM_AT, 2);
    uint32_t how = take(bytes + USER_AT, 4);
    if (!is_word(said) || how > (said == KC_START_ENDED ? KC_START_BY_SIGNAL : 0)) {
        return KC_START_MALFORMED;
    }
    *word = (enum kc_start_word)said;
    *status = how;
    return KC_START_OK;
}
