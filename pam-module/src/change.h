// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHANGE_H
#define KC_CHANGE_H

#include "daemon.h"
#include "login.h"
#include "options.h"

#include <security/pam_modules.h>
#include <stdbool.h>

// Sends the old and the new password and waits for what comes of it. False, and nothing sent, when
// one of them is missing.
bool kc_change_password(pam_handle_t *pamh, const struct kc_options *options,
                        const struct kc_login *login, struct kc_answer *answer);

// Root gives an account a new password without knowing the old one: the daemon is told that much,
// and tells the user at the next login. False, and nothing sent, when it was not that.
bool kc_reset_password(pam_handle_t *pamh, const struct kc_options *options,
                       const struct kc_login *login, struct kc_answer *answer);

#endif
