// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "password.h"
#include "ticket.h"

#include <stdlib.h>

static const char data_name[] = "pam_keychain session";

// What the end of a session needs to know of its beginning.
struct opened {
    uid_t uid;
    int32_t ticket;
};

// Not the end of the session: a host may end its handle and leave the session open, and a forked
// child ends its copy of the handle while the parent's session goes on.
static void clean_up(pam_handle_t *pamh, void *data, int status) {
    (void)pamh;
    (void)status;
    free(data);
}

static void remember(pam_handle_t *pamh, uid_t uid, int32_t ticket) {
    struct opened *opened = malloc(sizeof *opened);
    if (opened == NULL) return;
    *opened = (struct opened){uid, ticket};
    if (pam_set_data(pamh, data_name, opened, clean_up) != PAM_SUCCESS) free(opened);
}

struct kc_answer kc_session_open(pam_handle_t *pamh, const struct kc_options *options,
                                 const struct kc_login *login) {
    const struct kc_password *password = kc_password_kept(pamh);
    if (password != NULL && password->uid != login->uid) password = NULL;
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_OPEN_SESSION);
    kc_login_add_host(pamh, &frame);
    frame.has_password = password != NULL;
    frame.password = kc_password_view(password);
    frame.ticket = kc_ticket_create(login->uid, login->gid);
    // Also when the daemon is not there: the session ends all the same.
    remember(pamh, login->uid, frame.ticket);
    return kc_daemon_tell(options, &frame);
}

bool kc_session_close(pam_handle_t *pamh, const struct kc_options *options,
                      const struct kc_login *login, struct kc_answer *answer) {
    const void *data = NULL;
    if (pam_get_data(pamh, data_name, &data) != PAM_SUCCESS || data == NULL) return false;
    const struct opened *opened = data;
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_CLOSE_SESSION);
    frame.uid = opened->uid;
    frame.ticket = opened->ticket;
    *answer = kc_daemon_tell(options, &frame);
    kc_ticket_revoke(frame.ticket);
    (void)pam_set_data(pamh, data_name, NULL, NULL);
    return true;
}
