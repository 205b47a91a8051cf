// SPDX-License-Identifier: Apache-2.0
#ifndef KC_LOGIN_H
#define KC_LOGIN_H

#include "login_frame.h"
#include "options.h"

#include <security/pam_modules.h>
#include <stdbool.h>
#include <sys/types.h>

// The account that the host logs in. The name belongs to PAM.
struct kc_login {
    const char *account;
    // (uid_t)-1 where no such account exists.
    uid_t uid;
    gid_t gid;
};

// Reads PAM_USER without ever asking for it, and looks the account up. Returns false without a
// name.
bool kc_login_read(pam_handle_t *pamh, struct kc_login *login);

// Whether the account has keychains at all: it exists, and is a person's.
bool kc_login_is_person(const struct kc_login *login, const struct kc_options *options);

// Makes a request with the verb, about the login.
struct kc_login_frame kc_login_request(const struct kc_login *login, enum kc_login_verb verb);

// Adds the host's facts about the session that it opens.
void kc_login_add_host(pam_handle_t *pamh, struct kc_login_frame *frame);

#endif
