// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <errno.h>
#include <security/pam_ext.h>
#include <syslog.h>

static const char *refusal(uint16_t reason) {
    switch (reason) {
    case KC_LOGIN_WRONG_PASSWORD: return "the password is not the keychain's";
    case KC_LOGIN_NO_SUCH_USER: return "no such user";
    case KC_LOGIN_BUSY: return "busy";
    case KC_LOGIN_INTERNAL: return "internal error";
    case KC_LOGIN_NOT_ALLOWED: return "not allowed";
    case KC_LOGIN_BAD_REQUEST: return "bad request";
    case KC_LOGIN_NO_SESSION: return "no such session";
    default: return "for a reason unknown here";
    }
}

void kc_report(pam_handle_t *pamh, int flags, const struct kc_options *options,
               const struct kc_answer *answer) {
    if (answer->outcome == KC_ACCEPTED) {
        if (options->debug) pam_syslog(pamh, LOG_DEBUG, "keychaind accepted");
        return;
    }
    if (answer->outcome == KC_REFUSED) {
        pam_syslog(pamh, LOG_NOTICE, "keychaind refused: %s", refusal(answer->reason));
        return;
    }
    errno = answer->error;
    pam_syslog(pamh, LOG_WARNING, "keychaind cannot be reached: %m");
    // Nobody can act on that at a login prompt, so only who asked for it hears it.
    if (options->debug && ((unsigned)flags & PAM_SILENT) == 0) {
        (void)pam_info(pamh, "keychain: its service cannot be reached");
    }
}
