// SPDX-License-Identifier: Apache-2.0
#ifndef KC_REPORT_H
#define KC_REPORT_H

#include "daemon.h"
#include "options.h"

#include <security/pam_modules.h>

// Says in the log, and with `debug` to the user, that the daemon did not do what it was asked; and
// to the user what the daemon has to tell.
void kc_report(pam_handle_t *pamh, int flags, const struct kc_options *options,
               const struct kc_answer *answer);

// The same for a password that its owner changed: the owner hears it if the keychain did not
// follow.
void kc_report_change(pam_handle_t *pamh, int flags, const struct kc_options *options,
                      const struct kc_answer *answer);

#endif
