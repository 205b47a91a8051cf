// SPDX-License-Identifier: Apache-2.0
//
// Stands before libc, libkeyutils, libsodium and libpam in the order of symbols, and lets exactly
// one call of the module fail. Calls that are not the module's pass through.

#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <keyutils.h>
#include <poll.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int target;
static int seen;

void faults_arm(int which) {
    target = which;
    seen = 0;
}

int faults_count(void) { return seen; }

static bool is_modules(const void *caller) {
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return false;
    return strstr(info.dli_fname, "pam_keychain.so") != NULL;
}

static bool fails(const void *caller) {
    static bool busy;
    if (target < 0 || busy) return false;
    busy = true;
    bool is_ours = is_modules(caller);
    busy = false;
    return is_ours && ++seen == target;
}

// Rule 5: a descriptor that an exec inherits, or a write that raises SIGPIPE, is the host's bad
// luck.
static void must(bool holds, const void *caller) {
    if (!holds && is_modules(caller)) abort();
}

int sodium_mlock(void *address, size_t count);

#define FUNCTION(result, name, parameters, arguments, error, failure)                              \
    DEMANDING(result, name, parameters, arguments, error, failure, true)

// The last argument is what must be so when the module calls it.
#define DEMANDING(result, name, parameters, arguments, error, failure, demand)                     \
    result name parameters;                                                                        \
    result name parameters {                                                                       \
        static result(*real) parameters;                                                           \
        must(demand, __builtin_return_address(0));                                                 \
        if (fails(__builtin_return_address(0))) {                                                  \
            errno = error;                                                                         \
            return failure;                                                                        \
        }                                                                                          \
        if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name);                               \
        return real arguments;                                                                     \
    }

FUNCTION(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now), ENOSYS, -1)
FUNCTION(int, fstat, (int file, struct stat *facts), (file, facts), EIO, -1)
FUNCTION(ssize_t, read, (int file, void *out, size_t count), (file, out, count), EIO, -1)
DEMANDING(int, socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, -1,
          (type & SOCK_CLOEXEC) != 0)
FUNCTION(int, connect, (int file, const struct sockaddr *address, socklen_t count),
         (file, address, count), ECONNREFUSED, -1)
FUNCTION(int, getsockopt, (int file, int level, int name, void *out, socklen_t *count),
         (file, level, name, out, count), ENOPROTOOPT, -1)
FUNCTION(int, poll, (struct pollfd * items, nfds_t count, int time), (items, count, time), ENOMEM,
         -1)
DEMANDING(ssize_t, send, (int file, const void *bytes, size_t count, int flags),
          (file, bytes, count, flags), EPIPE, -1, (flags & MSG_NOSIGNAL) != 0)
FUNCTION(ssize_t, recv, (int file, void *bytes, size_t count, int flags),
         (file, bytes, count, flags), ECONNRESET, -1)
FUNCTION(ssize_t, getrandom, (void *bytes, size_t count, unsigned flags), (bytes, count, flags),
         ENOSYS, -1)
FUNCTION(int, sodium_mlock, (void *address, size_t count), (address, count), ENOMEM, -1)
FUNCTION(key_serial_t, add_key,
         (const char *type, const char *name, const void *bytes, size_t count, key_serial_t ring),
         (type, name, bytes, count, ring), EDQUOT, -1)
FUNCTION(long, keyctl_setperm, (key_serial_t key, key_perm_t permissions), (key, permissions),
         EACCES, -1)
FUNCTION(long, keyctl_link, (key_serial_t key, key_serial_t ring), (key, ring), EDQUOT, -1)
FUNCTION(long, keyctl_unlink, (key_serial_t key, key_serial_t ring), (key, ring), EACCES, -1)
FUNCTION(key_serial_t, keyctl_join_session_keyring, (const char *name), (name), EDQUOT, -1)
FUNCTION(long, keyctl_chown, (key_serial_t key, uid_t uid, gid_t gid), (key, uid, gid), EDQUOT, -1)
FUNCTION(long, keyctl_describe, (key_serial_t key, char *out, size_t count), (key, out, count),
         EKEYREVOKED, -1)
FUNCTION(long, keyctl_search,
         (key_serial_t ring, const char *type, const char *name, key_serial_t into),
         (ring, type, name, into), ENOKEY, -1)
FUNCTION(key_serial_t, keyctl_get_keyring_ID, (key_serial_t key, int create), (key, create), ENOSYS,
         -1)
FUNCTION(long, keyctl_revoke, (key_serial_t key), (key), EACCES, -1)
FUNCTION(long, keyctl_invalidate, (key_serial_t key), (key), EACCES, -1)
FUNCTION(struct passwd *, pam_modutil_getpwnam, (pam_handle_t * pamh, const char *name),
         (pamh, name), EIO, NULL)

// Only the storing kind allocates; forgetting cannot fail.
typedef void (*cleaner)(pam_handle_t *, void *, int);
int pam_set_data(pam_handle_t *pamh, const char *name, void *data, cleaner clean) {
    static int (*real)(pam_handle_t *, const char *, void *, cleaner);
    if (data != NULL && fails(__builtin_return_address(0))) return PAM_BUF_ERR;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pam_set_data");
    return real(pamh, name, data, clean);
}

#ifndef __SANITIZE_ADDRESS__
// The sanitizer brings its own, which cannot be stood before.
FUNCTION(void *, mmap, (void *at, size_t count, int kind, int flags, int file, off_t from),
         (at, count, kind, flags, file, from), ENOMEM, MAP_FAILED)

extern void *__libc_malloc(size_t count);
void *malloc(size_t count) {
    if (target > 0 && fails(__builtin_return_address(0))) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(count);
}
#endif

int pam_get_item(const pam_handle_t *pamh, int type, const void **item) {
    static int (*real)(const pam_handle_t *, int, const void **);
    if (fails(__builtin_return_address(0))) return PAM_SYSTEM_ERR;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pam_get_item");
    return real(pamh, type, item);
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    must((flags & O_CLOEXEC) != 0, __builtin_return_address(0));
    if (fails(__builtin_return_address(0))) {
        errno = ENFILE;
        return -1;
    }
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    static int (*real)(int, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    must((flags & O_CLOEXEC) != 0, __builtin_return_address(0));
    if (fails(__builtin_return_address(0))) {
        errno = ENFILE;
        return -1;
    }
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "openat");
    return real(folder, path, flags, mode);
}

// The module asks for F_DUPFD_CLOEXEC only, and only where a host has closed 0, 1 or 2.
int fcntl(int file, int command, ...) {
    static int (*real)(int, int, ...);
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (fails(__builtin_return_address(0))) {
        errno = EMFILE;
        return -1;
    }
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "fcntl");
    return real(file, command, argument);
}
