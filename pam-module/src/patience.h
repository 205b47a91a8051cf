// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PATIENCE_H
#define KC_PATIENCE_H

#include "daemon.h"

#include <security/pam_modules.h>

// The time-out in ms for a login that has already waited in vain.
#define KC_IMPATIENT_MS 50

// Tells the daemon, as kc_daemon_tell does. A whole login waits only once for a daemon that hangs:
// after a time-out, later calls with the same handle wait at most KC_IMPATIENT_MS, until the daemon
// answers again.
struct kc_answer kc_tell(pam_handle_t *pamh, const struct kc_options *options,
                         const struct kc_login_frame *request);

#endif
