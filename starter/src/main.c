// SPDX-License-Identifier: Apache-2.0
//
// keychain-starter: starts the programs that work for keychaind and its workers, gives users'
// folders to their workers' numbers, and ends workers that keychaind gave up. It does nothing else,
// and is the only process of the service with those of root's rights that the PAM modules of a
// machine may need. Descriptor 3 is its listening socket, from systemd or from keychaind.
#include "installation.h"
#include "runs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LISTENER = 3 };

static bool says(int option, int expected) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(LISTENER, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

static bool has_standard(void) {
    return fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0 &&
           fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

static bool is_listener(void) {
    return says(SO_DOMAIN, AF_UNIX) && says(SO_TYPE, SOCK_SEQPACKET) && says(SO_ACCEPTCONN, 1) &&
           fcntl(LISTENER, F_SETFD, FD_CLOEXEC) == 0 && fcntl(LISTENER, F_SETFL, O_NONBLOCK) == 0;
}

// Drops the starting process's settings, so that none of them reaches a program.
static bool enter(void) {
    const struct rlimit none = {0, 0};
    (void)umask(S_IRWXG | S_IRWXO);
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR && chdir("/") == 0 &&
           setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           syscall(SYS_close_range, LISTENER + 1U, ~0U, 0) == 0;
}

int main(void) {
    struct kc_installation installation;
    if (geteuid() != 0 || !has_standard() || !is_listener() ||
        !kc_installation_find(&installation, "keychain-starter") || !enter()) {
        fputs("keychain-starter: is started by systemd or keychaind, as root, with a socket\n",
              stderr);
        return 2;
    }
    kc_serve(LISTENER, &installation);
    perror("keychain-starter");
    return 1;
}
