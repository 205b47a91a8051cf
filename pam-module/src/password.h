// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PASSWORD_H
#define KC_PASSWORD_H

#include "login_frame.h"

#include <security/pam_modules.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The password that authentication saw, and its owner's uid: sudo asks for the caller's password
// and then opens a session for another user.
struct kc_password {
    uid_t uid;
    // The authentication used no password.
    bool is_absent;
    // The password was offered to the daemon; it is offered only once.
    bool is_offered;
    size_t count;
    uint8_t bytes[KC_LOGIN_PASSWORD_MAX];
};

// Keeps a copy in place of an earlier one; NULL keeps that there was no password. A text longer
// than any password can be is not kept. Returns the kept password.
struct kc_password *kc_password_keep(pam_handle_t *pamh, uid_t uid, const char *text);

// The password kept by this process's handle; NULL if there is none.
struct kc_password *kc_password_kept(pam_handle_t *pamh);

// Wipes the kept password.
void kc_password_forget(pam_handle_t *pamh);

// NULL gives an absent password.
struct kc_login_view kc_password_view(const struct kc_password *password);

#endif
