// SPDX-License-Identifier: Apache-2.0
#include "patience.h"

#include <errno.h>

// Data of this name says that a wait has timed out. Its value means nothing.
static const char data_name[] = "pam_keychain waited in vain";

static bool has_waited_in_vain(pam_handle_t *pamh) {
    const void *data = NULL;
    return pam_get_data(pamh, data_name, &data) == PAM_SUCCESS && data != NULL;
}

static void remember(pam_handle_t *pamh, bool in_vain) {
    if (in_vain == has_waited_in_vain(pamh)) return;
    // The data is a constant, so PAM needs no function to free it.
    (void)pam_set_data(pamh, data_name, in_vain ? (void *)(uintptr_t)data_name : NULL, NULL);
}

struct kc_answer kc_tell(pam_handle_t *pamh, const struct kc_options *options,
                         const struct kc_login_frame *request) {
    struct kc_options shortened = *options;
    if (has_waited_in_vain(pamh) && shortened.timeout_ms > KC_IMPATIENT_MS) {
        shortened.timeout_ms = KC_IMPATIENT_MS;
    }
    struct kc_answer answer = kc_daemon_tell(&shortened, request);
    remember(pamh, answer.outcome == KC_UNREACHABLE && answer.error == ETIMEDOUT);
    return answer;
}
