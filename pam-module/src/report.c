// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <errno.h>
#include <security/pam_ext.h>
#include <syslog.h>

static const char *refusal(uint16_t reason) {
    switch (reason) {
    case KC_LOGIN_WRONG_PASSWORD: return "the password is not the keychain's";
    case KC_LOGIN_BUSY: return "busy";
    case KC_LOGIN_INTERNAL: return "internal error";
    case KC_LOGIN_NOT_ALLOWED: return "not allowed";
    case KC_LOGIN_BAD_REQUEST: return "bad request";
    case KC_LOGIN_NO_SESSION: return "no such session";
    case KC_LOGIN_OLDER_SERVICE:
        return "it is older than pam_keychain.so; systemctl restart keychaind starts the one that "
               "is installed";
    case KC_LOGIN_OLDER_MODULE:
        return "the pam_keychain.so of this program is older; install the same version of both, "
               "then start the program again";
    default: return "for a reason unknown here";
    }
}

static void say(pam_handle_t *pamh, int flags, const char *text) {
    if (((unsigned)flags & PAM_SILENT) == 0) (void)pam_info(pamh, "%s", text);
}

static void write_log(pam_handle_t *pamh, const struct kc_options *options,
                      const struct kc_answer *answer) {
    switch (answer->outcome) {
    case KC_ACCEPTED:
        if (options->debug) pam_syslog(pamh, LOG_DEBUG, "keychaind accepted");
        break;
    case KC_REFUSED:
        pam_syslog(pamh, LOG_NOTICE, "keychaind refused: %s", refusal(answer->reason));
        break;
    case KC_UNREACHABLE:
        errno = answer->error;
        pam_syslog(pamh, LOG_WARNING, "keychaind cannot be reached: %m");
        break;
    }
}

void kc_report(pam_handle_t *pamh, int flags, const struct kc_options *options,
               const struct kc_answer *answer) {
    write_log(pamh, options, answer);
    if (answer->outcome == KC_ACCEPTED && answer->notice == KC_LOGIN_PASSWORD_DIFFERS) {
        say(pamh, flags,
            "Your keychain may still have an older password than your login. If it stays locked, "
            "run keychainctl unlock and give it the old one.");
    }
    // No user can act on that at a login prompt, so only `debug` shows it.
    if (answer->outcome == KC_UNREACHABLE && options->debug) {
        say(pamh, flags, "keychain: its service cannot be reached");
    }
}

void kc_report_change(pam_handle_t *pamh, int flags, const struct kc_options *options,
                      const struct kc_answer *answer) {
    write_log(pamh, options, answer);
    if (answer->outcome == KC_ACCEPTED) return;
    say(pamh, flags,
        "Your keychain keeps its old password. After the next login, run keychainctl unlock and "
        "give it that one.");
}
