// SPDX-License-Identifier: Apache-2.0
#include "password.h"

#include "locked.h"

#include <string.h>

static const char data_name[] = "pam_keychain password";

// PAM calls this when the data is replaced and when the handle ends, also in a forked child.
static void clean_up(pam_handle_t *pamh, void *data, int status) {
    (void)pamh;
    (void)status;
    kc_locked_free(data, sizeof(struct kc_password));
}

struct kc_password *kc_password_keep(pam_handle_t *pamh, uid_t uid, const char *text) {
    kc_password_forget(pamh);
    size_t count = text == NULL ? 0 : strnlen(text, KC_LOGIN_PASSWORD_MAX + 1);
    if (count > KC_LOGIN_PASSWORD_MAX) return NULL;
    struct kc_password *password = kc_locked_new(sizeof *password);
    if (password == NULL) return NULL;
    password->uid = uid;
    password->is_absent = text == NULL;
    password->count = count;
    if (text != NULL) memcpy(password->bytes, text, count);
    if (pam_set_data(pamh, data_name, password, clean_up) != PAM_SUCCESS) {
        kc_locked_free(password, sizeof *password);
        return NULL;
    }
    return password;
}

struct kc_password *kc_password_kept(pam_handle_t *pamh) {
    const void *data = NULL;
    if (pam_get_data(pamh, data_name, &data) != PAM_SUCCESS) return NULL;
    // PAM returns data as const; this is the buffer that was set above.
    return (struct kc_password *)(uintptr_t)data;
}

void kc_password_forget(pam_handle_t *pamh) {
    if (kc_password_kept(pamh) == NULL) return;
    (void)pam_set_data(pamh, data_name, NULL, NULL);
}

struct kc_login_view kc_password_view(const struct kc_password *password) {
    if (password == NULL) return (struct kc_login_view){NULL, 0};
    return (struct kc_login_view){password->bytes, password->count};
}
