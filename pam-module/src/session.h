// SPDX-License-Identifier: Apache-2.0
#ifndef KC_SESSION_H
#define KC_SESSION_H

#include "daemon.h"
#include "login.h"
#include "options.h"

#include <security/pam_modules.h>
#include <stdbool.h>

// Asks whose the ticket is to be and makes it, reports the session with the kept password if it is
// this user's, and remembers the ticket for the session's end.
struct kc_answer kc_session_open(pam_handle_t *pamh, int flags, const struct kc_options *options,
                                 const struct kc_login *login);

// Whether this handle has opened a session of that user and not closed it.
bool kc_session_is_open(pam_handle_t *pamh, uid_t uid);

// Reports the end of the session that this handle opened, and ends its ticket. Returns false if
// this handle opened none.
bool kc_session_close(pam_handle_t *pamh, const struct kc_options *options,
                      struct kc_answer *answer);

#endif
