// SPDX-License-Identifier: Apache-2.0
#include "patience.h"

// The data of this name is the number of milliseconds waited so far, and points nowhere.
static const char data_name[] = "pam_keychain waited";

static int waited_ms(pam_handle_t *pamh) {
    const void *data = NULL;
    if (pam_get_data(pamh, data_name, &data) != PAM_SUCCESS) return 0;
    return (int)(uintptr_t)data;
}

static void remember(pam_handle_t *pamh, int waited) {
    if (waited > KC_MAX_TIMEOUT_MS) waited = KC_MAX_TIMEOUT_MS;
    // PAM needs no function to free a number.
    (void)pam_set_data(pamh, data_name, (void *)(uintptr_t)waited, NULL);
}

struct kc_answer kc_tell(pam_handle_t *pamh, const struct kc_options *options,
                         const struct kc_login_frame *request) {
    struct kc_options shortened = *options;
    int waited = waited_ms(pamh);
    int left = options->timeout_ms - waited;
    if (left < KC_IMPATIENT_MS) left = KC_IMPATIENT_MS;
    if (left < shortened.timeout_ms) shortened.timeout_ms = left;
    struct kc_answer answer = kc_daemon_tell(&shortened, request);
    remember(pamh, waited + answer.waited_ms);
    return answer;
}
