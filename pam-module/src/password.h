// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PASSWORD_H
#define KC_PASSWORD_H

#include "login_frame.h"

#include <security/pam_modules.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The password that authentication saw, and whose it is: sudo asks for the caller's password and
// then opens a session for another user.
struct kc_password {
    uid_t uid;
    // Authentication went by without one.
    bool is_absent;
    // Told to the daemon already; once is enough.
    bool is_offered;
    size_t count;
    uint8_t bytes[KC_LOGIN_PASSWORD_MAX];
};

// Keeps a copy, in place of any that was kept before; of NULL, that there was none. What is longer
// than any password can be is not kept. Returns what is kept.
struct kc_password *kc_password_keep(pam_handle_t *pamh, uid_t uid, const char *text);

// What is kept, by this process's handle; NULL if nothing is.
struct kc_password *kc_password_kept(pam_handle_t *pamh);

// Wipes what is kept.
void kc_password_forget(pam_handle_t *pamh);

// NULL gives an absent password.
struct kc_login_view kc_password_view(const struct kc_password *password);

#endif
