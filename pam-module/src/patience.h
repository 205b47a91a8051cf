// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PATIENCE_H
#define KC_PATIENCE_H

#include "daemon.h"

#include <security/pam_modules.h>

// How long an answer is waited for by a login that has waited in vain already.
#define KC_IMPATIENT_MS 50

// Tells the daemon, as kc_daemon_tell does. The whole of a login waits for a daemon that hangs only
// once: later calls with the same handle are told to it, and hardly waited for, until it answers.
struct kc_answer kc_tell(pam_handle_t *pamh, const struct kc_options *options,
                         const struct kc_login_frame *request);

#endif
