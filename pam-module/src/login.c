// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "descriptor.h"

#include <fcntl.h>
#include <pwd.h>
#include <security/pam_modutil.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// The uid that stands for unmapped and anonymous users.
static const uid_t nobody = 65534;

static struct kc_login_view view_of(const char *text) {
    if (text == NULL) return (struct kc_login_view){NULL, 0};
    struct kc_login_view view = {(const uint8_t *)text, strnlen(text, KC_LOGIN_TEXT_MAX + 1)};
    // The environment can be the user's own work. A bad hint is dropped as a whole, as it must not
    // prevent the report.
    if (kc_login_text_check(view) != KC_LOGIN_OK) view.count = 0;
    return view;
}

static const char *item(pam_handle_t *pamh, int type) {
    const void *value = NULL;
    return pam_get_item(pamh, type, &value) == PAM_SUCCESS ? value : NULL;
}

bool kc_login_read(pam_handle_t *pamh, struct kc_login *login) {
    const char *name = item(pamh, PAM_USER);
    if (name == NULL || name[0] == '\0') return false;
    *login = (struct kc_login){.account = name, .uid = (uid_t)-1, .gid = (gid_t)-1};
    const struct passwd *account = pam_modutil_getpwnam(pamh, name);
    if (account == NULL) return true;
    // The name as the system spells it; LDAP also accepts other spellings.
    *login = (struct kc_login){account->pw_name, account->pw_uid, account->pw_gid};
    return true;
}

bool kc_login_is_person(const struct kc_login *login, const struct kc_options *options) {
    if (login->uid == (uid_t)-1 || login->uid == nobody) return false;
    return login->uid >= options->min_uid;
}

struct kc_login_frame kc_login_request(const struct kc_login *login, enum kc_login_verb verb) {
    return (struct kc_login_frame){
        .verb = verb,
        .uid = login->uid,
        .leader = (int32_t)getpid(),
        .audit_session = KC_LOGIN_NO_AUDIT_SESSION,
        .account = view_of(login->account),
    };
}

static uint32_t audit_session(void) {
    char text[16] = {0};
    uint64_t number = 0;
    int file = kc_above_standard(open("/proc/self/sessionid", O_RDONLY | O_CLOEXEC));
    if (file < 0) return KC_LOGIN_NO_AUDIT_SESSION;
    ssize_t count = read(file, text, sizeof text - 1);
    kc_close(file);
    if (count <= 0) return KC_LOGIN_NO_AUDIT_SESSION;
    for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++) {
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    return number < UINT32_MAX ? (uint32_t)number : KC_LOGIN_NO_AUDIT_SESSION;
}

void kc_login_add_host(pam_handle_t *pamh, struct kc_login_frame *frame) {
    const char *from = item(pamh, PAM_RHOST);
    frame->audit_session = audit_session();
    frame->is_remote = from != NULL && from[0] != '\0';
    frame->service = view_of(item(pamh, PAM_SERVICE));
    frame->tty = view_of(item(pamh, PAM_TTY));
    frame->logind_session = view_of(pam_getenv(pamh, "XDG_SESSION_ID"));
}
