// SPDX-License-Identifier: Apache-2.0
//
// A PAM application for tests: host SERVICE USER STEP... does the steps in their order and says
// what came of each. Answers to questions come from standard input, a line each.

#include "faults.h"
#include "observe.h"
#include "say.h"
#include "threads.h"

#include <keyutils.h>
#include <sched.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *service;
static const char *user;
static pam_handle_t *handle;
// What the host does when PAM has something to tell the user.
static const char *interlude;
// Standard output's place, out of the way of hosts that close 0-2.
static int out = 1;

void say(const char *format, ...) {
    char line[1024];
    va_list rest;
    va_start(rest, format);
    int count = vsnprintf(line, sizeof line - 1, format, rest);
    va_end(rest);
    if (count < 0) abort();
    size_t length = (size_t)count < sizeof line - 1 ? (size_t)count : sizeof line - 2;
    line[length] = '\n';
    if (write(out, line, length + 1) < 0) abort();
}

// libpam's log comes here instead of to the machine's.
void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...) {
    (void)priority;
    (void)flag;
    char line[512];
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    if (strstr(line, "pam_keychain") != NULL) say("log %s", line);
}

// Byte by byte into memory of PAM's, so that no buffer of the test's holds a password. NULL at the
// end of the answers: the user has cancelled.
static char *answer(void) {
    char *line = calloc(1, 1100);
    size_t count = 0;
    char byte = 0;
    if (line == NULL) abort();
    while (count < 1099 && syscall(SYS_read, 0, &byte, 1) == 1 && byte != '\n')
        line[count++] = byte;
    if (count > 0 || byte == '\n') return line;
    free(line);
    return NULL;
}

static bool prepare(const char *step);
static bool act(const char *step);

static int converse(int count, const struct pam_message **messages, struct pam_response **responses,
                    void *data) {
    (void)data;
    struct pam_response *list = calloc((size_t)count, sizeof *list);
    if (list == NULL) return PAM_BUF_ERR;
    for (int index = 0; index < count; index++) {
        int style = messages[index]->msg_style;
        if (style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON) {
            list[index].resp = answer();
            if (list[index].resp == NULL) {
                free(list);
                return PAM_CONV_ERR;
            }
        } else {
            say("message %s", messages[index]->msg);
            if (interlude != NULL && !prepare(interlude))
                (void)(act(interlude) || observe(interlude));
        }
    }
    *responses = list;
    return PAM_SUCCESS;
}

static void start(void) {
    static const struct pam_conv conversation = {converse, NULL};
    if (handle != NULL) return;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) abort();
    // Some modules sleep after a wrong password.
    (void)pam_fail_delay(handle, 0);
}

static const char *value(const char *step, const char *name) {
    size_t count = strlen(name);
    return strncmp(step, name, count) == 0 ? step + count : NULL;
}

static long long now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool call(const char *step) {
    static const struct {
        const char *name;
        int (*function)(pam_handle_t *, int);
        int flags;
    } calls[] = {
        {"authenticate", pam_authenticate, 0},
        {"account", pam_acct_mgmt, 0},
        {"establish", pam_setcred, PAM_ESTABLISH_CRED},
        {"reinitialize", pam_setcred, PAM_REINITIALIZE_CRED},
        {"refresh", pam_setcred, PAM_REFRESH_CRED},
        {"delete", pam_setcred, PAM_DELETE_CRED},
        {"open", pam_open_session, 0},
        {"open-silently", pam_open_session, (int)PAM_SILENT},
        {"close", pam_close_session, 0},
        {"change", pam_chauthtok, 0},
        {"change-expired", pam_chauthtok, PAM_CHANGE_EXPIRED_AUTHTOK},
    };
    for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
        if (strcmp(step, calls[index].name) != 0) continue;
        start();
        long long before = now_ms();
        int code = calls[index].function(handle, calls[index].flags);
        say("%s %d %lld", step, code, now_ms() - before);
        return true;
    }
    return false;
}

// sshd with keyboard-interactive: authentication happens in a child, the rest in its parent.
static void in_child(const char *step) {
    start();
    pid_t child = fork();
    if (child == 0) {
        (void)call(step);
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) say("child %d", status);
}

static void join_keyring_of(unsigned uid) {
    key_serial_t keyring = keyctl_join_session_keyring(NULL);
    if (keyring < 0 || keyctl_chown(keyring, uid, uid) != 0) say("join failed");
}

// A ticket of the user's own making, where ours will be.
static void plant(unsigned uid) {
    key_serial_t key = add_key("user", "keychain:ticket", "planted", 7, KEY_SPEC_SESSION_KEYRING);
    if (key < 0 || keyctl_setperm(key, 0x3f3f0000) != 0 || keyctl_chown(key, uid, uid) != 0) {
        say("planting failed");
    }
}

// Takes up all keys that the user may have, or gives them back.
static void fill_quota(unsigned uid, bool fill) {
    pid_t child = fork();
    if (child == 0) {
        char name[32];
        if (setresuid(uid, uid, uid) != 0) _exit(1);
        (void)keyctl_clear(KEY_SPEC_USER_KEYRING);
        // The kernel gives the quota of keys that ended back a little later: full is what stays so.
        for (int number = 0, refused = 0; fill && refused < 20;) {
            (void)snprintf(name, sizeof name, "filler %d", number);
            if (add_key("user", name, "x", 1, KEY_SPEC_USER_KEYRING) >= 0) {
                number++;
                refused = 0;
            } else {
                refused++;
                (void)usleep(10000);
            }
        }
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) say("quota %d", status);
}

// A set-user-id program: its caller is a user, it is root.
static void come_from(unsigned uid) {
    if (setresuid(uid, 0, 0) != 0) say("real user failed");
}

static void become(unsigned uid) {
    if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) say("become failed");
}

static void end(void) {
    int code = handle == NULL ? PAM_SUCCESS : pam_end(handle, PAM_SUCCESS);
    if (code != PAM_SUCCESS) say("end %d", code);
    if (code == PAM_SUCCESS) handle = NULL;
}

static void limit(int resource, const char *text) {
    struct rlimit most;
    if (getrlimit(resource, &most) != 0) abort();
    most.rlim_cur = strtoul(text, NULL, 10);
    if (setrlimit(resource, &most) != 0) say("limit failed");
}

static void ignore_children(void) {
    if (signal(SIGCHLD, SIG_IGN) == SIG_ERR) say("signal failed");
}

// A child of the host's own: the host alone may reap it.
static void await_child(void) {
    pid_t child = fork();
    if (child == 0) _exit(7);
    start();
    (void)pam_open_session(handle, 0);
    int status = 0;
    bool is_reaped = waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
    say("child-reaped %d", is_reaped);
}

static bool prepare(const char *step) {
    const char *text;
    if ((text = value(step, "user=")) != NULL) {
        start();
        (void)pam_set_item(handle, PAM_USER, text);
    } else if ((text = value(step, "tty=")) != NULL) {
        start();
        (void)pam_set_item(handle, PAM_TTY, text);
    } else if ((text = value(step, "rhost=")) != NULL) {
        start();
        (void)pam_set_item(handle, PAM_RHOST, text);
    } else if ((text = value(step, "env=")) != NULL) {
        start();
        (void)pam_putenv(handle, text);
    } else if ((text = value(step, "as=")) != NULL) {
        become((unsigned)strtoul(text, NULL, 10));
    } else if ((text = value(step, "keyring-of=")) != NULL) {
        join_keyring_of((unsigned)strtoul(text, NULL, 10));
    } else if ((text = value(step, "plant=")) != NULL) {
        plant((unsigned)strtoul(text, NULL, 10));
    } else if ((text = value(step, "real=")) != NULL) {
        come_from((unsigned)strtoul(text, NULL, 10));
    } else if ((text = value(step, "fill-quota-of=")) != NULL) {
        fill_quota((unsigned)strtoul(text, NULL, 10), true);
    } else if ((text = value(step, "empty-quota-of=")) != NULL) {
        fill_quota((unsigned)strtoul(text, NULL, 10), false);
    } else if ((text = value(step, "fail=")) != NULL) {
        faults_arm(atoi(text));
    } else if ((text = value(step, "child=")) != NULL) {
        in_child(text);
    } else if ((text = value(step, "interlude=")) != NULL) {
        interlude = text;
    } else if ((text = value(step, "max-files=")) != NULL) {
        limit(RLIMIT_NOFILE, text);
    } else if ((text = value(step, "max-locked=")) != NULL) {
        limit(RLIMIT_MEMLOCK, text);
    } else if ((text = value(step, "threads=")) != NULL) {
        say("threads %d", run_threads(service, user, atoi(text)));
    } else {
        return false;
    }
    return true;
}

static bool act(const char *step) {
    if (strcmp(step, "pid") == 0) {
        say("pid %d", (int)getpid());
    } else if (strcmp(step, "calls") == 0) {
        say("calls %d", faults_count());
    } else if (strcmp(step, "close-standard") == 0) {
        for (int file = 0; file < 3; file++)
            (void)close(file);
    } else if (strcmp(step, "ignore-children") == 0) {
        ignore_children();
    } else if (strcmp(step, "await-child") == 0) {
        await_child();
    } else if (strcmp(step, "user-namespace") == 0) {
        if (unshare(CLONE_NEWUSER) != 0) say("unshare failed");
    } else if (strcmp(step, "mount-namespace") == 0) {
        if (unshare(CLONE_NEWNS) != 0) say("unshare failed");
    } else if (strcmp(step, "end") == 0) {
        end();
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    faults_arm(-1);
    service = argv[1];
    user = argv[2];
    out = (int)syscall(SYS_fcntl, 1, 1030 /* F_DUPFD_CLOEXEC */, 100);
    // Without a keyring of its own the host has root's user session keyring. That one links root's
    // user keyring, where the tickets of other programs' tests may lie. A host that comes from a
    // user (set-uid) has that user's.
    if (argc < 4 || value(argv[3], "real=") == NULL) join_keyring_of(0);
    for (int index = 3; index < argc; index++) {
        if (!call(argv[index]) && !prepare(argv[index]) && !act(argv[index]) &&
            !observe(argv[index])) {
            say("no such step %s", argv[index]);
            return 2;
        }
    }
    end();
    return 0;
}
