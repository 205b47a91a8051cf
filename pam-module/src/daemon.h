// SPDX-License-Identifier: Apache-2.0
#ifndef KC_DAEMON_H
#define KC_DAEMON_H

#include "login_frame.h"
#include "options.h"

#include <stdint.h>

enum kc_outcome { KC_ACCEPTED, KC_REFUSED, KC_UNREACHABLE };

struct kc_answer {
    enum kc_outcome outcome;
    // Where refused: an enum kc_login_reason, as far as we know it.
    uint16_t reason;
    // Where accepted: an enum kc_login_notice, or 0.
    uint16_t notice;
    // Where unreachable: an errno.
    int error;
};

// How long a connection may take; the exchange behind it has the configured time.
#define KC_CONNECT_MS 200

// Tells the daemon and waits for its answer, never longer than both times together. A host that is
// not root speaks at the offer socket.
struct kc_answer kc_daemon_tell(const struct kc_options *options,
                                const struct kc_login_frame *request);

#endif
