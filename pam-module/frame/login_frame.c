// SPDX-License-Identifier: Apache-2.0
#include "login_frame.h"

#include <string.h>

enum {
    FLAG_REMOTE = 1,
    FLAG_PASSWORD = 2,
    FLAG_NEW_PASSWORD = 4,
    FLAG_SILENT = 8,
    FLAG_AUTHENTICATED = 16,
    ALL_FLAGS = FLAG_REMOTE | FLAG_PASSWORD | FLAG_NEW_PASSWORD | FLAG_SILENT | FLAG_AUTHENTICATED,
};

// ---- Writing -----------------------------------------------------------------------------------

struct writer {
    uint8_t *bytes;
    size_t capacity;
    size_t count;
    bool overflowed;
};

static void put(struct writer *out, const void *bytes, size_t count) {
    if (out->overflowed || count > out->capacity - out->count) {
        out->overflowed = true;
        return;
    }
    if (count > 0) memcpy(out->bytes + out->count, bytes, count);
    out->count += count;
}

static void put_u16(struct writer *out, uint16_t value) {
    const uint8_t bytes[2] = {(uint8_t)(value & 0xff), (uint8_t)(value >> 8)};
    put(out, bytes, sizeof bytes);
}

static void put_u32(struct writer *out, uint32_t value) {
    put_u16(out, (uint16_t)(value & 0xffff));
    put_u16(out, (uint16_t)(value >> 16));
}

static void put_view(struct writer *out, struct kc_login_view view) {
    put_u16(out, (uint16_t)view.count);
    put(out, view.bytes, view.count);
}

static void put_header(struct writer *out, enum kc_login_verb verb, size_t body_count) {
    put_u32(out, KC_LOGIN_MAGIC);
    put_u16(out, KC_LOGIN_VERSION);
    put_u16(out, (uint16_t)verb);
    put_u32(out, (uint32_t)body_count);
}

static void put_request(struct writer *out, const struct kc_login_frame *frame) {
    unsigned flags = 0;
    if (frame->is_remote) flags |= FLAG_REMOTE;
    if (frame->has_password) flags |= FLAG_PASSWORD;
    if (frame->has_new_password) flags |= FLAG_NEW_PASSWORD;
    if (frame->is_silent) flags |= FLAG_SILENT;
    if (frame->is_authenticated) flags |= FLAG_AUTHENTICATED;
    put_u32(out, frame->uid);
    put_u32(out, (uint32_t)frame->ticket);
    put_u32(out, (uint32_t)frame->leader);
    put_u32(out, frame->audit_session);
    put_u16(out, (uint16_t)flags);
    put_view(out, frame->account);
    put_view(out, frame->service);
    put_view(out, frame->tty);
    put_view(out, frame->logind_session);
    put_view(out, frame->password);
    put_view(out, frame->new_password);
}

// ---- Checks, in both directions -----------------------------------------------------------------

static bool is_request(enum kc_login_verb verb) {
    return verb >= KC_LOGIN_OPEN_SESSION && verb <= KC_LOGIN_NUMBER;
}

enum kc_login_status kc_login_text_check(struct kc_login_view text) {
    if (text.count > KC_LOGIN_TEXT_MAX) return KC_LOGIN_TOO_LONG;
    for (size_t index = 0; index < text.count; index++) {
        if (text.bytes[index] < 0x20 || text.bytes[index] == 0x7f) return KC_LOGIN_MALFORMED;
    }
    return KC_LOGIN_OK;
}

static enum kc_login_status check_password(bool present, struct kc_login_view password) {
    if (!present && password.count > 0) return KC_LOGIN_MALFORMED;
    return password.count > KC_LOGIN_PASSWORD_MAX ? KC_LOGIN_TOO_LONG : KC_LOGIN_OK;
}

// Which passwords each verb carries.
static bool passwords_fit_verb(const struct kc_login_frame *frame) {
    bool first = frame->has_password;
    bool second = frame->has_new_password;
    switch (frame->verb) {
    case KC_LOGIN_OPEN_SESSION: return !second;
    case KC_LOGIN_CLOSE_SESSION:
    case KC_LOGIN_RESET_PASSWORD:
    case KC_LOGIN_NUMBER: return !first && !second;
    case KC_LOGIN_OFFER_PASSWORD: return first && !second;
    case KC_LOGIN_CHANGE_PASSWORD: return first && second;
    case KC_LOGIN_ACCEPTED:
    case KC_LOGIN_ACCEPTED_WITH_NOTICE:
    case KC_LOGIN_NUMBER_IS:
    case KC_LOGIN_REFUSED: break;
    }
    return false;
}

// Whether nothing but the uid is set. The passwords are looked at elsewhere.
static bool is_bare(const struct kc_login_frame *frame) {
    return frame->ticket == 0 && frame->leader == 0 && frame->audit_session == 0 &&
           !frame->is_remote && !frame->is_silent && !frame->is_authenticated &&
           frame->account.count == 0 && frame->service.count == 0 && frame->tty.count == 0 &&
           frame->logind_session.count == 0;
}

static enum kc_login_status check_request(const struct kc_login_frame *frame) {
    const struct kc_login_view texts[] = {frame->account, frame->service, frame->tty,
                                          frame->logind_session};
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        enum kc_login_status status = kc_login_text_check(texts[index]);
        if (status != KC_LOGIN_OK) return status;
    }
    enum kc_login_status status = check_password(frame->has_password, frame->password);
    if (status == KC_LOGIN_OK) {
        status = check_password(frame->has_new_password, frame->new_password);
    }
    if (status != KC_LOGIN_OK) return status;
    if (!passwords_fit_verb(frame)) return KC_LOGIN_MALFORMED;
    if (frame->verb == KC_LOGIN_NUMBER) return is_bare(frame) ? KC_LOGIN_OK : KC_LOGIN_MALFORMED;
    if (frame->account.count == 0) return KC_LOGIN_MALFORMED;
    if (frame->is_authenticated && frame->verb != KC_LOGIN_OPEN_SESSION) return KC_LOGIN_MALFORMED;
    return KC_LOGIN_OK;
}

// ---- Reading -----------------------------------------------------------------------------------

struct reader {
    const uint8_t *bytes;
    size_t left;
    bool ran_out;
};

static const uint8_t *take(struct reader *in, size_t count) {
    static const uint8_t nothing[4] = {0};
    if (in->ran_out || count > in->left) {
        in->ran_out = true;
        return nothing;
    }
    const uint8_t *taken = in->bytes;
    in->bytes += count;
    in->left -= count;
    return taken;
}

static uint16_t take_u16(struct reader *in) {
    const uint8_t *bytes = take(in, 2);
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t take_u32(struct reader *in) {
    uint32_t low = take_u16(in);
    uint32_t high = take_u16(in);
    return low | high << 16;
}

static struct kc_login_view take_view(struct reader *in) {
    size_t count = take_u16(in);
    struct kc_login_view view = {take(in, count), count};
    if (in->ran_out) view.count = 0;
    return view;
}

static enum kc_login_status take_request(struct reader *in, struct kc_login_frame *frame) {
    frame->uid = take_u32(in);
    frame->ticket = (int32_t)take_u32(in);
    frame->leader = (int32_t)take_u32(in);
    frame->audit_session = take_u32(in);
    unsigned flags = take_u16(in);
    frame->is_remote = (flags & FLAG_REMOTE) != 0;
    frame->has_password = (flags & FLAG_PASSWORD) != 0;
    frame->has_new_password = (flags & FLAG_NEW_PASSWORD) != 0;
    frame->is_silent = (flags & FLAG_SILENT) != 0;
    frame->is_authenticated = (flags & FLAG_AUTHENTICATED) != 0;
    frame->account = take_view(in);
    frame->service = take_view(in);
    frame->tty = take_view(in);
    frame->logind_session = take_view(in);
    frame->password = take_view(in);
    frame->new_password = take_view(in);
    if ((flags & ~(unsigned)ALL_FLAGS) != 0) return KC_LOGIN_MALFORMED;
    return in->ran_out ? KC_LOGIN_MALFORMED : check_request(frame);
}

static enum kc_login_status take_body(struct reader *in, struct kc_login_frame *frame) {
    enum kc_login_status status = KC_LOGIN_OK;
    if (is_request(frame->verb)) {
        status = take_request(in, frame);
    } else if (frame->verb == KC_LOGIN_REFUSED) {
        frame->reason = take_u16(in);
        if (in->ran_out || frame->reason == 0) status = KC_LOGIN_MALFORMED;
    } else if (frame->verb == KC_LOGIN_ACCEPTED_WITH_NOTICE) {
        frame->notice = take_u16(in);
        if (in->ran_out || frame->notice == 0) status = KC_LOGIN_MALFORMED;
    } else if (frame->verb == KC_LOGIN_NUMBER_IS) {
        frame->number = take_u32(in);
        if (in->ran_out || frame->number == UINT32_MAX) status = KC_LOGIN_MALFORMED;
    }
    if (status == KC_LOGIN_OK && in->left > 0) status = KC_LOGIN_MALFORMED;
    return status;
}

// ---- Public functions ---------------------------------------------------------------------------

static enum kc_login_status read_header(const uint8_t header[KC_LOGIN_HEADER_SIZE],
                                        enum kc_login_verb *verb, size_t *body_count) {
    struct reader in = {header, KC_LOGIN_HEADER_SIZE, false};
    uint32_t magic = take_u32(&in);
    uint16_t version = take_u16(&in);
    uint16_t word = take_u16(&in);
    uint32_t count = take_u32(&in);
    if (magic != KC_LOGIN_MAGIC || version == 0) return KC_LOGIN_FOREIGN;
    if (version < KC_LOGIN_VERSION) return KC_LOGIN_OLDER;
    if (version > KC_LOGIN_VERSION) return KC_LOGIN_NEWER;
    if (count > KC_LOGIN_FRAME_MAX - KC_LOGIN_HEADER_SIZE) return KC_LOGIN_TOO_LONG;
    bool known = (word >= KC_LOGIN_OPEN_SESSION && word <= KC_LOGIN_NUMBER) ||
                 (word >= KC_LOGIN_ACCEPTED && word <= KC_LOGIN_NUMBER_IS);
    if (!known) return KC_LOGIN_MALFORMED;
    *verb = (enum kc_login_verb)word;
    *body_count = count;
    return KC_LOGIN_OK;
}

enum kc_login_status kc_login_header_check(const uint8_t header[KC_LOGIN_HEADER_SIZE],
                                           size_t *body_count) {
    enum kc_login_verb verb;
    *body_count = 0;
    return read_header(header, &verb, body_count);
}

enum kc_login_status kc_login_frame_encode(const struct kc_login_frame *frame, uint8_t *buffer,
                                           size_t capacity, size_t *count) {
    *count = 0;
    if (capacity > KC_LOGIN_FRAME_MAX) capacity = KC_LOGIN_FRAME_MAX;
    if (capacity < KC_LOGIN_HEADER_SIZE) return KC_LOGIN_TOO_LONG;
    struct writer body = {buffer + KC_LOGIN_HEADER_SIZE, capacity - KC_LOGIN_HEADER_SIZE, 0, false};
    if (is_request(frame->verb)) {
        enum kc_login_status status = check_request(frame);
        if (status != KC_LOGIN_OK) return status;
        put_request(&body, frame);
    } else if (frame->verb == KC_LOGIN_REFUSED && frame->reason != 0) {
        put_u16(&body, frame->reason);
    } else if (frame->verb == KC_LOGIN_ACCEPTED_WITH_NOTICE && frame->notice != 0) {
        put_u16(&body, frame->notice);
    } else if (frame->verb == KC_LOGIN_NUMBER_IS && frame->number != UINT32_MAX) {
        put_u32(&body, frame->number);
    } else if (frame->verb != KC_LOGIN_ACCEPTED) {
        return KC_LOGIN_MALFORMED;
    }
    if (body.overflowed) return KC_LOGIN_TOO_LONG;
    struct writer header = {buffer, KC_LOGIN_HEADER_SIZE, 0, false};
    put_header(&header, frame->verb, body.count);
    *count = KC_LOGIN_HEADER_SIZE + body.count;
    return KC_LOGIN_OK;
}

enum kc_login_status kc_login_frame_decode(const uint8_t *buffer, size_t count,
                                           struct kc_login_frame *frame) {
    struct kc_login_frame read = {0};
    size_t body_count = 0;
    memset(frame, 0, sizeof *frame);
    if (count < KC_LOGIN_HEADER_SIZE) return KC_LOGIN_TRUNCATED;
    enum kc_login_status status = read_header(buffer, &read.verb, &body_count);
    if (status != KC_LOGIN_OK) return status;
    if (count - KC_LOGIN_HEADER_SIZE < body_count) return KC_LOGIN_TRUNCATED;
    if (count - KC_LOGIN_HEADER_SIZE > body_count) return KC_LOGIN_MALFORMED;
    struct reader in = {buffer + KC_LOGIN_HEADER_SIZE, body_count, false};
    status = take_body(&in, &read);
    if (status == KC_LOGIN_OK) *frame = read;
    return status;
}
