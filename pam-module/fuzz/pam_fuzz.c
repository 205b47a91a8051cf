// SPDX-License-Identifier: Apache-2.0
//
// Hosts that call the five functions in any order, with any items, options and answers of a daemon.
// PAM, accounts, tickets and the daemon are played here. Only documented codes are returned; a
// password goes only to the daemon, and only for its own user; and no password is kept after a
// session is opened.
#include "daemon.h"
#include "fuzz.h"
#include "locked.h"
#include "login.h"
#include "password.h"
#include "ticket.h"

#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define MOST_DATA 4
#define MOST_STEPS 200

typedef void (*cleaner)(pam_handle_t *, void *, int);

struct pam_handle {
    struct input in;
    char *items[PAM_AUTHTOK_TYPE + 1];
    char *session;
    struct {
        char *name;
        void *data;
        cleaner clean;
    } data[MOST_DATA];
    struct passwd account;
    uid_t host;
    // The user for whom authentication, or a change, last saw a password.
    bool is_given;
    uid_t given_for;
    int32_t ticket;
    // What the daemon last told of whose tickets are.
    uint32_t number;
    int told, changed, reported;
};

static struct pam_handle pam;

// ---- libpam ------------------------------------------------------------------------------------

static bool fails(void) { return take_byte(&pam.in) % 16 == 15; }

int pam_get_item(const pam_handle_t *pamh, int type, const void **item) {
    REQUIRE(pamh == &pam && type > 0 && type <= PAM_AUTHTOK_TYPE);
    if (fails()) return PAM_SYSTEM_ERR;
    *item = pam.items[type];
    return PAM_SUCCESS;
}

int pam_set_data(pam_handle_t *pamh, const char *name, void *data, cleaner clean) {
    int free_one = -1;
    REQUIRE(pamh == &pam);
    for (int index = 0; index < MOST_DATA; index++) {
        if (pam.data[index].name == NULL) {
            if (free_one < 0) free_one = index;
        } else if (strcmp(pam.data[index].name, name) == 0) {
            if (pam.data[index].clean) {
                pam.data[index].clean(pamh, pam.data[index].data, PAM_DATA_REPLACE);
            }
            pam.data[index].data = data;
            pam.data[index].clean = clean;
            return PAM_SUCCESS;
        }
    }
    REQUIRE(free_one >= 0);
    if (data != NULL && fails()) return PAM_BUF_ERR;
    pam.data[free_one].name = strdup(name);
    pam.data[free_one].data = data;
    pam.data[free_one].clean = clean;
    return PAM_SUCCESS;
}

int pam_get_data(const pam_handle_t *pamh, const char *name, const void **data) {
    REQUIRE(pamh == &pam);
    for (int index = 0; index < MOST_DATA; index++) {
        if (pam.data[index].name == NULL || strcmp(pam.data[index].name, name) != 0) continue;
        *data = pam.data[index].data;
        return PAM_SUCCESS;
    }
    return PAM_NO_MODULE_DATA;
}

const char *pam_getenv(pam_handle_t *pamh, const char *name) {
    REQUIRE(pamh == &pam && strcmp(name, "XDG_SESSION_ID") == 0);
    return pam.session;
}

// Fails if a line, to the log or to the user, holds a password.
static void check_line(const char *format, va_list rest) {
    char *line = NULL;
    REQUIRE(vasprintf(&line, format, rest) >= 0);
    const char *secrets[] = {pam.items[PAM_AUTHTOK], pam.items[PAM_OLDAUTHTOK]};
    for (size_t index = 0; index < 2; index++) {
        // Texts of the module itself, and the options that it repeats, are no secrets.
        if (secrets[index] != NULL && strncmp(secrets[index], "SECRET", 6) == 0) {
            REQUIRE(strstr(line, "SECRET") == NULL);
        }
    }
    free(line);
}

void pam_syslog(const pam_handle_t *pamh, int priority, const char *format, ...) {
    va_list rest;
    REQUIRE(pamh == &pam);
    (void)priority;
    va_start(rest, format);
    check_line(format, rest);
    va_end(rest);
}

int pam_prompt(pam_handle_t *pamh, int style, char **response, const char *format, ...) {
    va_list rest;
    // The module shows texts, and never asks.
    REQUIRE(pamh == &pam && style == PAM_TEXT_INFO && response == NULL);
    va_start(rest, format);
    check_line(format, rest);
    va_end(rest);
    pam.reported++;
    return fails() ? PAM_CONV_ERR : PAM_SUCCESS;
}

// Each name has one number.
static uid_t uid_of(const char *name) {
    static const uid_t uids[] = {0, 999, 1000, 1001, 65534, (uid_t)-1};
    return uids[(uint8_t)name[0] % 6];
}

struct passwd *pam_modutil_getpwnam(pam_handle_t *pamh, const char *name) {
    REQUIRE(pamh == &pam);
    if (fails() || name[0] == '?') return NULL;
    pam.account.pw_uid = uid_of(name);
    pam.account.pw_gid = pam.account.pw_uid;
    free(pam.account.pw_name);
    pam.account.pw_name = strdup(name);
    return &pam.account;
}

uid_t geteuid(void) { return pam.host; }

// ---- The kernel and the daemon -----------------------------------------------------------------

// Allocated where the sanitizer checks accesses.
void *kc_locked_new(size_t count) { return fails() ? NULL : calloc(1, count); }

void kc_locked_free(void *memory, size_t count) {
    if (memory != NULL) memset(memory, 0, count);
    free(memory);
}

int32_t kc_ticket_create(uid_t uid, gid_t gid, uint32_t number) {
    REQUIRE(uid == gid && pam.host == 0 && number == pam.number);
    pam.ticket = fails() ? 0 : 77;
    return pam.ticket;
}

void kc_ticket_end(int32_t ticket, uint32_t number) {
    REQUIRE((ticket == 0 || ticket == 77) && (number == 0 || number == 12));
    pam.ticket = 0;
}

struct kc_answer kc_daemon_tell(const struct kc_options *options,
                                const struct kc_login_frame *request) {
    uint8_t bytes[KC_LOGIN_FRAME_MAX];
    struct kc_login_frame read;
    size_t count = 0;
    REQUIRE(options->timeout_ms <= KC_MAX_TIMEOUT_MS);
    struct kc_answer answer = {.outcome = take_byte(&pam.in) % 3, .reason = take_byte(&pam.in)};
    answer.notice = answer.reason;
    answer.number = answer.reason % 2 == 0 ? 0 : 12;
    pam.told++;
    if (request->verb == KC_LOGIN_CHANGE_PASSWORD) pam.changed++;
    if (request->verb != KC_LOGIN_CHANGE_PASSWORD && request->has_password) {
        REQUIRE(pam.is_given);
        REQUIRE(request->uid == pam.given_for || request->uid == (uid_t)-1);
        REQUIRE(pam.host == 0 || pam.host == request->uid);
    }
    REQUIRE(request->verb == KC_LOGIN_OFFER_PASSWORD || request->uid >= options->min_uid ||
            request->verb == KC_LOGIN_CLOSE_SESSION);
    if (kc_login_frame_encode(request, bytes, sizeof bytes, &count) != KC_LOGIN_OK) {
        answer.outcome = KC_UNREACHABLE;
        return answer;
    }
    REQUIRE(kc_login_frame_decode(bytes, count, &read) == KC_LOGIN_OK);
    if (request->verb == KC_LOGIN_NUMBER) {
        pam.number = answer.outcome == KC_ACCEPTED ? answer.number : 0;
    }
    return answer;
}

// ---- The host ----------------------------------------------------------------------------------

static void set_item(int type) {
    free(pam.items[type]);
    pam.items[type] = take_text(&pam.in, 1200);
}

static void change_something(void) {
    static const int types[] = {PAM_USER,    PAM_AUTHTOK, PAM_OLDAUTHTOK,
                                PAM_SERVICE, PAM_TTY,     PAM_RHOST};
    uint8_t what = take_byte(&pam.in) % 8;
    if (what < 6) {
        set_item(types[what]);
    } else if (what == 6) {
        free(pam.session);
        pam.session = take_text(&pam.in, 300);
    } else {
        static const uid_t hosts[] = {0, 0, 1000, 1001};
        pam.host = hosts[take_byte(&pam.in) % 4];
    }
}

static void note_giver(void) {
    const char *user = pam.items[PAM_USER];
    pam.is_given = user != NULL;
    pam.given_for = user != NULL ? uid_of(user) : 0;
}

static bool is_kept(void) { return kc_password_kept(&pam) != NULL; }

static void call(int argc, const char **argv) {
    int flags = take_byte(&pam.in) % 2 ? (int)PAM_SILENT : 0;
    int reported = pam.reported;
    int code;
    switch (take_byte(&pam.in) % 6) {
    case 0:
        note_giver();
        REQUIRE(pam_sm_authenticate(&pam, flags, argc, argv) == PAM_IGNORE);
        break;
    case 1:
        flags |= 1 << (1 + take_byte(&pam.in) % 4);
        REQUIRE(pam_sm_setcred(&pam, flags, argc, argv) == PAM_IGNORE);
        break;
    case 2:
        code = pam_sm_open_session(&pam, flags, argc, argv);
        REQUIRE(code == PAM_SUCCESS || code == PAM_IGNORE || code == PAM_SESSION_ERR);
        REQUIRE(!is_kept());
        break;
    case 3:
        code = pam_sm_close_session(&pam, flags, argc, argv);
        REQUIRE(code == PAM_SUCCESS || code == PAM_IGNORE);
        REQUIRE(!is_kept());
        break;
    case 4: {
        int told = pam.told;
        code = pam_sm_chauthtok(&pam, flags | PAM_PRELIM_CHECK, argc, argv);
        REQUIRE(code == PAM_IGNORE && told == pam.told);
        break;
    }
    default: {
        int changed = pam.changed;
        code = pam_sm_chauthtok(&pam, flags | PAM_UPDATE_AUTHTOK, argc, argv);
        REQUIRE(code == PAM_SUCCESS || code == PAM_IGNORE || code == PAM_AUTHTOK_ERR);
        // The new password replaces the kept one only where it was sent.
        if (pam.changed > changed) note_giver();
        break;
    }
    }
    REQUIRE(pam.reported - reported <= ((flags & (int)PAM_SILENT) != 0 ? 0 : 1));
}

static void end(void) {
    for (int index = 0; index < MOST_DATA; index++) {
        if (pam.data[index].clean) pam.data[index].clean(&pam, pam.data[index].data, 0);
        free(pam.data[index].name);
    }
    for (int type = 0; type <= PAM_AUTHTOK_TYPE; type++)
        free(pam.items[type]);
    free(pam.session);
    free(pam.account.pw_name);
    memset(&pam, 0, sizeof pam);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const char *const words[] = {"debug",     "required",      "strict",  "unlock",
                                        "min_uid=0", "timeout_ms=50", "surprise"};
    const char *argv[7];
    int argc = 0;
    pam.in = (struct input){bytes, count};
    uint8_t chosen = take_byte(&pam.in);
    for (int index = 0; index < 7; index++) {
        if ((chosen >> index & 1) != 0) argv[argc++] = words[index];
    }
    for (int step = 0; step < MOST_STEPS && pam.in.left > 0; step++) {
        switch (take_byte(&pam.in) % 3) {
        case 0: break;
        case 1: change_something(); break;
        default: call(argc, argv); break;
        }
    }
    end();
    return 0;
}
