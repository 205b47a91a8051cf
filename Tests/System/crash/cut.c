// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program by crash tests: ends it as a power cut would, at a chosen one of its
// changes to the files below a folder, before the change or in the middle of it.
//
//     CUT_UNDER=/var/lib/keychain  whose files count
//     CUT_PLAN=/path/of/a/file     "NUMBER HOW": at which change, from 1, and `before` or `half`;
//                                  number 0 cuts nothing. Nothing counts before the file is there.
//
// How many changes there have been stands in the file `PLAN.count`.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum decision { GO_ON, CUT_BEFORE, CUT_HALF };

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static long count;

static bool is_under(const char *path) {
    const char *folder = getenv("CUT_UNDER");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static bool is_open_under(int file) {
    char link[64];
    char path[PATH_MAX + 1] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return readlink(link, path, PATH_MAX) > 0 && is_under(path);
}

// The library's own reading and writing goes to the kernel directly, past what is below.
static bool read_plan(long *number, char how[16]) {
    char text[64] = {0};
    const char *plan = getenv("CUT_PLAN");
    if (plan == NULL) return false;
    int file = (int)syscall(SYS_openat, AT_FDCWD, plan, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t got = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    return got > 0 && sscanf(text, "%ld %15s", number, how) == 2;
}

static void write_count(void) {
    char path[PATH_MAX];
    char text[32];
    snprintf(path, sizeof path, "%s.count", getenv("CUT_PLAN"));
    int length = snprintf(text, sizeof text, "%ld\n", count);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    syscall(SYS_pwrite64, file, text, (size_t)length, 0L);
    syscall(SYS_close, file);
}

static enum decision next_change(void) {
    long number = 0;
    char how[16];
    enum decision decision = GO_ON;
    pthread_mutex_lock(&counting);
    if (read_plan(&number, how)) {
        count++;
        write_count();
        if (count == number) decision = strcmp(how, "half") == 0 ? CUT_HALF : CUT_BEFORE;
    }
    pthread_mutex_unlock(&counting);
    return decision;
}

static void end_here(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

// For changes that can't be half done.
static void count_change(void) {
    if (next_change() != GO_ON) end_here();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITING(name, offset_type)                                                                 \
    ssize_t name(int file, const void *bytes, size_t size, offset_type offset) {                   \
        if (is_open_under(file)) {                                                                 \
            enum decision decision = next_change();                                                \
            if (decision == CUT_HALF) (void)!REAL(name)(file, bytes, size / 2, offset);            \
            if (decision != GO_ON) end_here();                                                     \
        }                                                                                          \
        return REAL(name)(file, bytes, size, offset);                                              \
    }

WRITING(pwrite, off_t)
WRITING(pwrite64, off64_t)

ssize_t write(int file, const void *bytes, size_t size) {
    if (is_open_under(file)) {
        enum decision decision = next_change();
        if (decision == CUT_HALF) (void)!REAL(write)(file, bytes, size / 2);
        if (decision != GO_ON) end_here();
    }
    return REAL(write)(file, bytes, size);
}

#define ON_OPEN_FILE(name, parameters, arguments)                                                  \
    int name parameters {                                                                          \
        if (is_open_under(file)) count_change();                                                   \
        return REAL(name) arguments;                                                               \
    }

ON_OPEN_FILE(fsync, (int file), (file))
ON_OPEN_FILE(fdatasync, (int file), (file))
ON_OPEN_FILE(ftruncate, (int file, off_t size), (file, size))
ON_OPEN_FILE(ftruncate64, (int file, off64_t size), (file, size))

#define ON_PATH(name, parameters, arguments)                                                       \
    int name parameters {                                                                          \
        if (is_under(path)) count_change();                                                        \
        return REAL(name) arguments;                                                               \
    }

ON_PATH(unlink, (const char *path), (path))
ON_PATH(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
ON_PATH(rmdir, (const char *path), (path))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(renameat2, (int from, const char *path, int at, const char *to, unsigned int flags),
        (from, path, at, to, flags))
ON_PATH(link, (const char *path, const char *to), (path, to))
ON_PATH(linkat, (int from, const char *path, int at, const char *to, int flags),
        (from, path, at, to, flags))

#define OPENING(name)                                                                              \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                              \
        if ((flags & O_CREAT) != 0 && is_under(path)) count_change();                              \
        return REAL(name)(path, flags, mode);                                                      \
    }

OPENING(open)
OPENING(open64)
