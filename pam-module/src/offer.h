// SPDX-License-Identifier: Apache-2.0
#ifndef KC_OFFER_H
#define KC_OFFER_H

#include "daemon.h"
#include "login.h"
#include "options.h"

#include <security/pam_modules.h>
#include <stdbool.h>

// Offers the kept password to the daemon, which opens an existing keychain if the password fits.
// Returns false if no password is kept, it was offered already, or this host may not offer it.
bool kc_offer_kept_password(pam_handle_t *pamh, const struct kc_options *options,
                            const struct kc_login *login, struct kc_answer *answer);

#endif
