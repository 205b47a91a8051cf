// SPDX-License-Identifier: Apache-2.0
//
// keychain-audit FOLDER: appends what keychaind's workers record to the files of the audit, which
// are its own. Descriptor 3 is its listening socket, from systemd or from keychaind. It hears one
// connection, keychaind's, over which the sockets of workers come, and ends with that.
#include "CLinux.h"
#include "audit_record.h"
#include "files.h"
#include "installation.h"
#include "peer.h"
#include "serving.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LISTENER = 3,
    // Those of sockets, and of the folder, a file, keychaind's connection and the standard ones,
    // with some to spare.
    MOST_DESCRIPTORS = KC_AUDIT_SOCKETS + 16,
};

static const char own_name[] = "keychain-audit";
static const char account[] = "_keychain-audit";

static bool says(int option, int expected) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(LISTENER, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

static bool is_listener(void) {
    return says(SO_DOMAIN, AF_UNIX) && says(SO_TYPE, SOCK_SEQPACKET) && says(SO_ACCEPTCONN, 1) &&
           fcntl(LISTENER, F_SETFD, FD_CLOEXEC) == 0 && fcntl(LISTENER, F_SETFL, 0) == 0;
}

static bool enter(void) {
    (void)umask(S_IRWXG | S_IRWXO);
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR && signal(SIGXFSZ, SIG_IGN) != SIG_ERR &&
           chdir("/") == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           syscall(SYS_close_range, LISTENER + 1U, ~0U, 0) == 0;
}

// Makes the folder where it is missing. keychaind's folder lies above, which no other user can
// write to. A folder of root's is one that was just made.
static bool give_folder(const char *path, const struct passwd *owner) {
    struct stat facts;
    (void)mkdir(path, S_IRWXU);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool held = folder >= 0 && fstat(folder, &facts) == 0 &&
                (facts.st_uid != 0 || fchown(folder, owner->pw_uid, owner->pw_gid) == 0);
    if (folder >= 0) close(folder);
    return held;
}

// Without systemd this process is keychaind's child, and root's until here. With the user the
// kernel forgets that the child ends with its parent: records of a killed keychaind may wait.
static bool become_own_account(const char *path) {
    if (geteuid() != 0) return true;
    const struct passwd *own = getpwnam(account);
    return own != NULL && own->pw_uid != 0 && give_folder(path, own) && setgroups(0, NULL) == 0 &&
           setgid(own->pw_gid) == 0 && setuid(own->pw_uid) == 0;
}

// The folder, where it is this account's alone.
static int open_folder(const char *path) {
    struct stat facts;
    int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
        (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0) {
        return folder;
    }
    if (folder >= 0) close(folder);
    return -1;
}

// From here on the process can append to files of the folder and talk to its peers.
static bool confine(int folder) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           kc_limit_to_appending(KC_AUDIT_FILE_MAX, MOST_DESCRIPTORS) == 0 &&
           kc_forbid_files_but_appending(folder) == 0 &&
           kc_allow_only_appending(folder, KC_AUDIT_OPENING) == 0;
}

// Refuses each other peer.
static int wait_for_keychaind(const struct kc_installation *installation) {
    for (;;) {
        int connection = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0 || kc_peer_runs(connection, installation->daemon)) return connection;
        (void)kc_say(connection, KC_AUDIT_NOT_ALLOWED);
        close(connection);
    }
}

int main(int count, char **arguments) {
    struct kc_installation installation;
    if (count != 2 || arguments[1][0] != '/' || !is_listener() ||
        !kc_installation_find(&installation, own_name) || !enter()) {
        fputs("keychain-audit: is started by systemd or keychaind, with a socket and a folder\n",
              stderr);
        return 2;
    }
    int connection = wait_for_keychaind(&installation);
    close(LISTENER);
    int folder = -1;
    if (connection < 0 || !become_own_account(arguments[1]) ||
        (folder = open_folder(arguments[1])) < 0) {
        fprintf(stderr, "keychain-audit: %s is no folder of %s's alone\n", arguments[1], account);
        return 1;
    }
    if (!confine(folder)) {
        perror("keychain-audit: can't give its rights up");
        return 1;
    }
    kc_serve(connection, folder);
    return 0;
}
