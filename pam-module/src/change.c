// SPDX-License-Identifier: Apache-2.0
#include "change.h"

#include "password.h"
#include "patience.h"

#include <string.h>

static struct kc_login_view password_item(pam_handle_t *pamh, int type, bool *is_present) {
    const void *item = NULL;
    *is_present = pam_get_item(pamh, type, &item) == PAM_SUCCESS && item != NULL;
    if (!*is_present) return (struct kc_login_view){NULL, 0};
    // A password that is too long for the frame is refused when the frame is written.
    return (struct kc_login_view){item, strnlen(item, KC_LOGIN_PASSWORD_MAX + 1)};
}

bool kc_change_password(pam_handle_t *pamh, const struct kc_options *options,
                        const struct kc_login *login, struct kc_answer *answer) {
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_CHANGE_PASSWORD);
    frame.password = password_item(pamh, PAM_OLDAUTHTOK, &frame.has_password);
    frame.new_password = password_item(pamh, PAM_AUTHTOK, &frame.has_new_password);
    if (!frame.has_password || !frame.has_new_password) return false;
    *answer = kc_tell(pamh, options, &frame);
    // A login that had to change an expired password goes on to open a session, with the new one.
    if (kc_password_kept(pamh) != NULL) {
        (void)kc_password_keep(pamh, login->uid, (const char *)frame.new_password.bytes);
    }
    return true;
}

bool kc_reset_password(pam_handle_t *pamh, const struct kc_options *options,
                       const struct kc_login *login, struct kc_answer *answer) {
    bool has_old = false;
    bool has_new = false;
    (void)password_item(pamh, PAM_OLDAUTHTOK, &has_old);
    (void)password_item(pamh, PAM_AUTHTOK, &has_new);
    if (has_old || !has_new) return false;
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_RESET_PASSWORD);
    *answer = kc_tell(pamh, options, &frame);
    return true;
}
