// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <keyutils.h>
#include <pthread.h>
#include <sched.h>
#include <security/pam_appl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 16

struct login {
    const char *service;
    const char *user;
    int number;
    bool is_good;
};

static pthread_barrier_t together;

static int answer(int count, const struct pam_message **messages, struct pam_response **responses,
                  void *data) {
    const struct login *login = data;
    struct pam_response *list = calloc((size_t)count, sizeof *list);
    if (list == NULL) return PAM_BUF_ERR;
    for (int index = 0; index < count; index++) {
        if (messages[index]->msg_style != PAM_PROMPT_ECHO_OFF) continue;
        if (asprintf(&list[index].resp, "thread %d", login->number) < 0) abort();
    }
    *responses = list;
    return PAM_SUCCESS;
}

// All are in the same function at the same time.
static bool step(pam_handle_t *handle, int (*function)(pam_handle_t *, int)) {
    (void)pthread_barrier_wait(&together);
    return function(handle, 0) == PAM_SUCCESS;
}

static void *log_in(void *data) {
    struct login *login = data;
    const struct pam_conv conversation = {answer, login};
    pam_handle_t *handle = NULL;
    // /proc/self is the first thread, whose descriptors are not this one's any longer.
    if (unshare(CLONE_FILES) != 0) abort();
    if (pam_start(login->service, login->user, &conversation, &handle) != PAM_SUCCESS) abort();
    bool is_good = step(handle, pam_authenticate);
    is_good = step(handle, pam_open_session) && is_good;
    long ticket = keyctl_search(KEY_SPEC_SESSION_KEYRING, "user", "keychain:ticket", 0);
    is_good = step(handle, pam_close_session) && is_good;
    char *text = NULL;
    // Revoked, for this thread as for the others.
    login->is_good =
        ticket > 0 && is_good && keyctl_describe_alloc((key_serial_t)ticket, &text) < 0;
    free(text);
    (void)pam_end(handle, PAM_SUCCESS);
    return NULL;
}

int run_threads(const char *service, const char *user, int count) {
    pthread_t threads[MOST_THREADS];
    struct login logins[MOST_THREADS];
    int good = 0;
    if (count < 1 || count > MOST_THREADS) return -1;
    if (pthread_barrier_init(&together, NULL, (unsigned)count) != 0) abort();
    for (int index = 0; index < count; index++) {
        logins[index] = (struct login){service, user, index, false};
        if (pthread_create(&threads[index], NULL, log_in, &logins[index]) != 0) abort();
    }
    for (int index = 0; index < count; index++) {
        if (pthread_join(threads[index], NULL) != 0) abort();
        good += logins[index].is_good;
    }
    (void)pthread_barrier_destroy(&together);
    return good;
}
