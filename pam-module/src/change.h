// SPDX-License-Identifier: Apache-2.0
#ifndef KC_CHANGE_H
#define KC_CHANGE_H

#include "daemon.h"
#include "login.h"
#include "options.h"

#include <security/pam_modules.h>
#include <stdbool.h>

// Sends the old and the new password and waits for the answer. Returns false, with nothing sent,
// where one of them is missing.
bool kc_change_password(pam_handle_t *pamh, const struct kc_options *options,
                        const struct kc_login *login, struct kc_answer *answer);

// Tells the daemon that root gave the account a new password without knowing the old one; the
// daemon tells the user at the next login. Returns false, with nothing sent, in every other case.
bool kc_reset_password(pam_handle_t *pamh, const struct kc_options *options,
                       const struct kc_login *login, struct kc_answer *answer);

#endif
