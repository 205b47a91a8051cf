// SPDX-License-Identifier: Apache-2.0
// A PAM module that misbehaves as the file of its user's name says, in the folder that its line
// names.
#include <security/pam_modules.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say(const struct pam_conv *conv, int style, const char *text) {
    struct pam_message message = {style, text};
    const struct pam_message *messages = &message;
    struct pam_response *response = NULL;
    int result = conv->conv(1, &messages, &response, conv->appdata_ptr);
    if (response != NULL) {
        free(response->resp);
        free(response);
    }
    return result;
}

static char *text_of(size_t length, char filling) {
    char *text = malloc(length + 1);
    if (text == NULL) {
        abort();
    }
    memset(text, filling, length);
    text[length] = '\0';
    return text;
}

// COUNT questions, whatever comes of them, and then success.
static int ask(const struct pam_conv *conv, int count) {
    for (int number = 0; number < count; number++) {
        char text[64];
        snprintf(text, sizeof text, "Password %d: ", number + 1);
        say(conv, PAM_PROMPT_ECHO_OFF, text);
    }
    return PAM_SUCCESS;
}

// Many messages at once.
static int crowd(const struct pam_conv *conv, int count) {
    struct pam_message *messages = calloc((size_t)count, sizeof *messages);
    const struct pam_message **list = calloc((size_t)count, sizeof *list);
    struct pam_response *response = NULL;
    if (messages == NULL || list == NULL) {
        abort();
    }
    for (int number = 0; number < count; number++) {
        messages[number] = (struct pam_message){PAM_TEXT_INFO, "one of very many"};
        list[number] = &messages[number];
    }
    conv->conv(count, list, &response, conv->appdata_ptr);
    free(list);
    free(messages);
    return PAM_AUTH_ERR;
}

static int unreadable(const struct pam_conv *conv) {
    struct pam_message message = {99, "of no kind"};
    const struct pam_message *messages[] = {&message, NULL};
    struct pam_response *response = NULL;
    conv->conv(1, messages, &response, conv->appdata_ptr);
    conv->conv(-1, messages, &response, conv->appdata_ptr);
    conv->conv(1, messages + 1, &response, conv->appdata_ptr);
    conv->conv(1, NULL, &response, conv->appdata_ptr);
    message = (struct pam_message){PAM_TEXT_INFO, "\xff\xfe\033[2J\x01 \xe2\x80\xae olleh"};
    conv->conv(1, messages, &response, conv->appdata_ptr);
    return PAM_AUTH_ERR;
}

static void sleep_for_ever(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        pause();
    }
}

// What it leaves behind has copies of every descriptor.
static int leave_a_child(void) {
    if (fork() == 0) {
        setsid();
        sleep(20);
        _exit(0);
    }
    abort();
}

// Success, but for another user than was asked about.
static int change_user(pam_handle_t *pam) { return pam_set_item(pam, PAM_USER, "root"); }

static int misbehave(const char *how, const struct pam_conv *conv) {
    if (strcmp(how, "sleep") == 0) {
        sleep_for_ever();
    }
    if (strcmp(how, "abort") == 0) {
        abort();
    }
    if (strcmp(how, "segfault") == 0) {
        raise(SIGSEGV);
    }
    if (strcmp(how, "exit") == 0) {
        _exit(0);
    }
    if (strcmp(how, "leave") == 0) {
        return leave_a_child();
    }
    if (strcmp(how, "twenty") == 0) {
        return ask(conv, 20);
    }
    if (strcmp(how, "twenty-one") == 0) {
        return ask(conv, 21);
    }
    if (strcmp(how, "forty") == 0) {
        return ask(conv, 40);
    }
    if (strcmp(how, "crowd") == 0) {
        return crowd(conv, 5000);
    }
    if (strcmp(how, "unreadable") == 0) {
        return unreadable(conv);
    }
    if (strcmp(how, "stack") == 0) {
        return *text_of(1, 'x') + misbehave(how, conv);
    }
    if (strcmp(how, "endless") == 0) {
        for (;;) {
            say(conv, PAM_TEXT_INFO, "and another thing");
        }
    }
    if (strcmp(how, "huge") == 0) {
        char *text = text_of(64U << 20, 'A');
        say(conv, PAM_TEXT_INFO, text);
        say(conv, PAM_ERROR_MSG, text);
        free(text);
        return ask(conv, 1) + PAM_AUTH_ERR;
    }
    return PAM_AUTH_ERR;
}

int pam_sm_authenticate(pam_handle_t *pam, int flags, int argc, const char **argv) {
    (void)flags;
    const struct pam_conv *conv;
    const char *user;
    char path[256];
    char how[32] = "";
    if (argc != 1 || pam_get_item(pam, PAM_CONV, (const void **)&conv) != PAM_SUCCESS ||
        pam_get_user(pam, &user, NULL) != PAM_SUCCESS) {
        return PAM_SYSTEM_ERR;
    }
    snprintf(path, sizeof path, "%s/%s", argv[0], user);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(how, sizeof how, file) == NULL) {
        return PAM_SYSTEM_ERR;
    }
    fclose(file);
    return strcmp(how, "another") == 0 ? change_user(pam) : misbehave(how, conv);
}

int pam_sm_setcred(pam_handle_t *pam, int flags, int argc, const char **argv) {
    (void)pam, (void)flags, (void)argc, (void)argv;
    return PAM_SUCCESS;
}
