// SPDX-License-Identifier: Apache-2.0
//
// pam_keychain.so: the five functions that PAM calls. They run inside login, sshd and screen
// lockers, and no failure in them may keep people from logging in.

#include "change.h"
#include "login.h"
#include "offer.h"
#include "options.h"
#include "password.h"
#include "report.h"
#include "session.h"

#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <syslog.h>
#include <unistd.h>

static bool read_options(pam_handle_t *pamh, int argc, const char **argv,
                         struct kc_options *options) {
    const char *unknown = kc_options_read(argc, argv, options);
    if (unknown == NULL) return true;
    pam_syslog(pamh, LOG_ERR, "option unknown, repeated or senseless, doing nothing: %s", unknown);
    return false;
}

// Reads the options and the account. Returns false where the module must do nothing.
static bool begin(pam_handle_t *pamh, int argc, const char **argv, struct kc_options *options,
                  struct kc_login *login) {
    return read_options(pamh, argc, argv, options) && kc_login_read(pamh, login);
}

int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct kc_options options;
    struct kc_login login;
    struct kc_answer answer;
    const void *password = NULL;
    kc_password_forget(pamh);
    if (!begin(pamh, argc, argv, &options, &login)) goto done;
    if (pam_get_item(pamh, PAM_AUTHTOK, &password) != PAM_SUCCESS) goto done;
    if (kc_password_keep(pamh, login.uid, password) == NULL) goto done;
    bool is_offered = options.unlock && kc_offer_kept_password(pamh, &options, &login, &answer);
    // An account without keychains has no use for its password. It is wiped only here, so that the
    // work before is the same for every account.
    if (!kc_login_is_person(&login, &options)) kc_password_forget(pamh);
    if (is_offered) kc_report(pamh, flags, &options, &answer);
done:
    // Never PAM_SUCCESS: this module has proved nothing, and with `sufficient` PAM would end the
    // authentication there.
    return PAM_IGNORE;
}

int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct kc_options options;
    struct kc_login login;
    struct kc_answer answer;
    const unsigned renewing = PAM_REINITIALIZE_CRED | PAM_REFRESH_CRED;
    if (((unsigned)flags & renewing) == 0) goto done;
    bool is_offered = begin(pamh, argc, argv, &options, &login) &&
                      kc_offer_kept_password(pamh, &options, &login, &answer);
    // The password is not needed any more: a host that renews credentials opens no session of the
    // same user next. It is wiped before the report, which can take as long as the user reads it.
    kc_password_forget(pamh);
    if (is_offered) kc_report(pamh, flags, &options, &answer);
done:
    return PAM_IGNORE;
}

int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct kc_options options;
    struct kc_login login;
    int result = PAM_IGNORE;
    if (!begin(pamh, argc, argv, &options, &login)) goto done;
    // Only root can open a session for a user.
    if (!kc_login_is_person(&login, &options) || geteuid() != 0) goto done;
    // A service's file can name this module twice.
    if (kc_session_is_open(pamh, login.uid)) goto done;
    struct kc_answer answer = kc_session_open(pamh, flags, &options, &login);
    // The password is wiped before the report, which takes as long as the user reads it.
    kc_password_forget(pamh);
    kc_report(pamh, flags, &options, &answer);
    result = answer.outcome == KC_ACCEPTED ? PAM_SUCCESS
             : options.required            ? PAM_SESSION_ERR
                                           : PAM_IGNORE;
done:
    // The host forks the user's own process next, which must not inherit the password.
    kc_password_forget(pamh);
    return result;
}

int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct kc_options options;
    struct kc_answer answer;
    int result = PAM_IGNORE;
    kc_password_forget(pamh);
    // The host in systemd runs as its user by then. The daemon notices that the leader is gone.
    if (geteuid() != 0 || !read_options(pamh, argc, argv, &options)) goto done;
    // No account is looked up: accounts can be gone, or slow, when a session ends.
    if (!kc_session_close(pamh, &options, &answer)) goto done;
    kc_report(pamh, flags, &options, &answer);
    if (answer.outcome == KC_ACCEPTED) result = PAM_SUCCESS;
done:
    return result;
}

int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct kc_options options;
    struct kc_login login;
    struct kc_answer answer;
    int result = PAM_IGNORE;
    if (((unsigned)flags & PAM_UPDATE_AUTHTOK) == 0) goto done;
    if (!begin(pamh, argc, argv, &options, &login)) goto done;
    if (!kc_login_is_person(&login, &options) || geteuid() != 0) goto done;
    if (!kc_change_password(pamh, &options, &login, &answer)) {
        bool is_told = kc_reset_password(pamh, &options, &login, &answer);
        if (is_told) kc_report(pamh, flags, &options, &answer);
        goto done;
    }
    kc_report_change(pamh, flags, &options, &answer);
    result = answer.outcome == KC_ACCEPTED ? PAM_SUCCESS
             : options.strict              ? PAM_AUTHTOK_ERR
                                           : PAM_IGNORE;
done:
    return result;
}
