// SPDX-License-Identifier: Apache-2.0
#ifndef KC_DAEMON_H
#define KC_DAEMON_H

#include "login_frame.h"
#include "options.h"

#include <stdint.h>

enum kc_outcome { KC_ACCEPTED, KC_REFUSED, KC_UNREACHABLE };

struct kc_answer {
    enum kc_outcome outcome;
    // If refused: an enum kc_login_reason, or a reason unknown to this version.
    uint16_t reason;
    // If accepted: an enum kc_login_notice, or 0.
    uint16_t notice;
    // If a number was asked for and told, it; else 0.
    uint32_t number;
    // If unreachable: an errno.
    int error;
    // How long it took, KC_MAX_TIMEOUT_MS at most.
    int waited_ms;
};

// The time-out of the connection in ms, or a shorter one that is configured; the exchange behind it
// has the configured one.
#define KC_CONNECT_MS 200

// Tells the daemon and waits for its answer, at most both time-outs together. A host that does not
// run as root uses the offer socket.
struct kc_answer kc_daemon_tell(const struct kc_options *options,
                                const struct kc_login_frame *request);

#endif
