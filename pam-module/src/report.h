// SPDX-License-Identifier: Apache-2.0
#ifndef KC_REPORT_H
#define KC_REPORT_H

#include "daemon.h"
#include "options.h"

#include <security/pam_modules.h>

// Writes to the log, and with `debug` tells the user, that the daemon refused or could not be
// reached; shows the user the daemon's notices.
void kc_report(pam_handle_t *pamh, int flags, const struct kc_options *options,
               const struct kc_answer *answer);

// The same for a password that its owner changed: the owner is told if the keychain still has the
// old password.
void kc_report_change(pam_handle_t *pamh, int flags, const struct kc_options *options,
                      const struct kc_answer *answer);

#endif
