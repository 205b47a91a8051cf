// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "password.h"
#include "patience.h"
#include "ticket.h"

#include <stdio.h>
#include <stdlib.h>

static const char data_name[] = "pam_keychain session";

// The facts of a session's beginning that its end needs.
struct opened {
    uid_t uid;
    int32_t ticket;
    // Whose the ticket is.
    uint32_t number;
    char account[KC_LOGIN_TEXT_MAX + 1];
};

// Does not end the session: a host may end its handle and leave the session open, and a forked
// child ends its copy of the handle while the parent's session goes on.
static void clean_up(pam_handle_t *pamh, void *data, int status) {
    (void)pamh;
    (void)status;
    free(data);
}

// Returns NULL where memory is lacking.
static struct opened *remember(pam_handle_t *pamh, const struct kc_login *login) {
    struct opened *opened = malloc(sizeof *opened);
    if (opened == NULL) return NULL;
    *opened = (struct opened){.uid = login->uid};
    (void)snprintf(opened->account, sizeof opened->account, "%s", login->account);
    if (pam_set_data(pamh, data_name, opened, clean_up) == PAM_SUCCESS) return opened;
    free(opened);
    return NULL;
}

static const struct opened *remembered(pam_handle_t *pamh) {
    const void *data = NULL;
    return pam_get_data(pamh, data_name, &data) == PAM_SUCCESS ? data : NULL;
}

bool kc_session_is_open(pam_handle_t *pamh, uid_t uid) {
    const struct opened *opened = remembered(pamh);
    return opened != NULL && opened->uid == uid;
}

// Returns whether the daemon told the number of the user's worker, which is 0 where workers have
// root's.
static bool ask_number(pam_handle_t *pamh, const struct kc_options *options, uid_t uid,
                       uint32_t *number) {
    const struct kc_login_frame question = {.verb = KC_LOGIN_NUMBER, .uid = uid};
    struct kc_answer answer = kc_tell(pamh, options, &question);
    *number = answer.number;
    return answer.outcome == KC_ACCEPTED;
}

struct kc_answer kc_session_open(pam_handle_t *pamh, int flags, const struct kc_options *options,
                                 const struct kc_login *login) {
    const struct kc_password *password = kc_password_kept(pamh);
    if (password != NULL && password->uid != login->uid) password = NULL;
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_OPEN_SESSION);
    kc_login_add_host(pamh, &frame);
    frame.is_silent = ((unsigned)flags & PAM_SILENT) != 0;
    frame.is_authenticated = password != NULL;
    frame.has_password = password != NULL && !password->is_absent;
    frame.password = kc_password_view(password);
    // The session is remembered first, since a ticket that is not remembered would never be
    // ended; without a ticket a session lives as long as its leader. It is remembered also where
    // the daemon is absent, since the session's end must be reported all the same. A daemon that is
    // just starting tells no number in time: a ticket of root's would be refused then.
    struct opened *opened = remember(pamh, login);
    if (opened != NULL && ask_number(pamh, options, login->uid, &opened->number)) {
        opened->ticket = kc_ticket_create(login->uid, login->gid, opened->number);
        frame.ticket = opened->ticket;
    }
    return kc_tell(pamh, options, &frame);
}

bool kc_session_close(pam_handle_t *pamh, const struct kc_options *options,
                      struct kc_answer *answer) {
    const struct opened *opened = remembered(pamh);
    if (opened == NULL) return false;
    // The account is the one of the session's beginning, whatever PAM_USER is by now.
    const struct kc_login login = {.account = opened->account, .uid = opened->uid};
    struct kc_login_frame frame = kc_login_request(&login, KC_LOGIN_CLOSE_SESSION);
    frame.ticket = opened->ticket;
    *answer = kc_tell(pamh, options, &frame);
    kc_ticket_end(opened->ticket, opened->number);
    (void)pam_set_data(pamh, data_name, NULL, NULL);
    return true;
}
