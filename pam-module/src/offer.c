// SPDX-License-Identifier: Apache-2.0
#include "offer.h"

#include "password.h"
#include "patience.h"

#include <unistd.h>

// Root may offer any user's password, other users only their own.
static bool may_speak_for(const struct kc_login *login) {
    uid_t host = geteuid();
    return host == 0 || host == login->uid;
}

bool kc_offer_kept_password(pam_handle_t *pamh, const struct kc_options *options,
                            const struct kc_login *login, struct kc_answer *answer) {
    // A missing account is asked about like any other, so that the time taken does not reveal it.
    bool is_nobodys = login->uid == (uid_t)-1;
    if (!is_nobodys && !kc_login_is_person(login, options)) return false;
    if (!may_speak_for(login)) return false;
    struct kc_password *password = kc_password_kept(pamh);
    if (password == NULL || password->is_absent || password->is_offered) return false;
    if (password->uid != login->uid) return false;
    struct kc_login_frame frame = kc_login_request(login, KC_LOGIN_OFFER_PASSWORD);
    frame.has_password = true;
    frame.password = kc_password_view(password);
    password->is_offered = true;
    *answer = kc_tell(pamh, options, &frame);
    return true;
}
