// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PATIENCE_H
#define KC_PATIENCE_H

#include "daemon.h"

#include <security/pam_modules.h>

// The time-out in ms for a login that has waited as long as it may.
#define KC_IMPATIENT_MS 50

// Tells the daemon, as kc_daemon_tell does. All calls with one handle share one time-out, so that a
// whole login waits no longer for a daemon that hangs or is slow. Once it is used up, a call waits
// KC_IMPATIENT_MS at most: the daemon is told all the same.
struct kc_answer kc_tell(pam_handle_t *pamh, const struct kc_options *options,
                         const struct kc_login_frame *request);

#endif
