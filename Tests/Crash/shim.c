// SPDX-License-Identifier: Apache-2.0
// Loaded into a program by the crash tests: counts the calls by which it changes files, and at the
// one that CRASH_AT names lets it die or the call fail. Without CRASH_AT it writes the count to the
// file that CRASH_COUNT names when the program ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long at;
static const char *how;

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("CRASH_AT");
    at = number != NULL ? atol(number) : -1;
    how = getenv("CRASH_HOW");
    if (how == NULL) {
        how = "";
    }
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("CRASH_COUNT");
    if (path == NULL) {
        return;
    }
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%ld", atomic_load(&calls));
        fclose(file);
    }
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

// What is to become of this call: 0 nothing, an errno to fail with, or -1 for half of it and death.
enum { HALF = -1, AFTER = -2 };
static int fate(void) {
    long now = atomic_fetch_add(&calls, 1);
    int is_meant = now == at || (at >= 0 && now > at && strstr(how, "always") != NULL);
    if (!is_meant) {
        return 0;
    }
    if (strcmp(how, "kill") == 0) {
        die();
    }
    if (strcmp(how, "half") == 0) {
        return HALF;
    }
    if (strcmp(how, "after") == 0) {
        return AFTER;
    }
    return strncmp(how, "full", 4) == 0 ? ENOSPC : EIO;
}

static int is_file(int descriptor) {
    struct stat status;
    return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// Calls that write `count` bytes: at half, the first half reaches the file.
#define WRITING(type, name, parameters, call, shortened)                                           \
    type name parameters {                                                                         \
        int what = is_file(descriptor) ? fate() : 0;                                               \
        if (what > 0) {                                                                            \
            errno = what;                                                                          \
            return -1;                                                                             \
        }                                                                                          \
        if (what == HALF) {                                                                        \
            REAL(name) shortened;                                                                  \
            die();                                                                                 \
        }                                                                                          \
        type result = REAL(name) call;                                                             \
        if (what == AFTER) {                                                                       \
            die();                                                                                 \
        }                                                                                          \
        return result;                                                                             \
    }

// All others: done or not.
#define CHANGING(name, parameters, call, counts)                                                   \
    int name parameters {                                                                          \
        int what = (counts) ? fate() : 0;                                                          \
        if (what > 0) {                                                                            \
            errno = what;                                                                          \
            return -1;                                                                             \
        }                                                                                          \
        if (what == HALF) {                                                                        \
            die();                                                                                 \
        }                                                                                          \
        int result = REAL(name) call;                                                              \
        if (what == AFTER) {                                                                       \
            die();                                                                                 \
        }                                                                                          \
        return result;                                                                             \
    }

WRITING(ssize_t, write, (int descriptor, const void *bytes, size_t count),
        (descriptor, bytes, count), (descriptor, bytes, count / 2))
WRITING(ssize_t, pwrite, (int descriptor, const void *bytes, size_t count, off_t offset),
        (descriptor, bytes, count, offset), (descriptor, bytes, count / 2, offset))
WRITING(ssize_t, pwrite64, (int descriptor, const void *bytes, size_t count, off64_t offset),
        (descriptor, bytes, count, offset), (descriptor, bytes, count / 2, offset))
CHANGING(fsync, (int descriptor), (descriptor), is_file(descriptor))
CHANGING(fdatasync, (int descriptor), (descriptor), is_file(descriptor))
CHANGING(ftruncate, (int descriptor, off_t length), (descriptor, length), is_file(descriptor))
CHANGING(ftruncate64, (int descriptor, off64_t length), (descriptor, length), is_file(descriptor))
CHANGING(rename, (const char *from, const char *to), (from, to), 1)
CHANGING(renameat2,
         (int from_folder, const char *from, int to_folder, const char *to, unsigned int flags),
         (from_folder, from, to_folder, to, flags), 1)
CHANGING(link, (const char *from, const char *to), (from, to), 1)
CHANGING(unlink, (const char *path), (path), 1)
CHANGING(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), 1)
CHANGING(rmdir, (const char *path), (path), 1)
CHANGING(mkdir, (const char *path, mode_t mode), (path, mode), 1)

// Those that make a file.
#define OPENING(name)                                                                              \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;                           \
        va_end(rest);                                                                              \
        int what = (flags & O_CREAT) != 0 ? fate() : 0;                                            \
        if (what > 0) {                                                                            \
            errno = what;                                                                          \
            return -1;                                                                             \
        }                                                                                          \
        if (what == HALF) {                                                                        \
            die();                                                                                 \
        }                                                                                          \
        int result = REAL(name)(path, flags, mode);                                                \
        if (what == AFTER) {                                                                       \
            die();                                                                                 \
        }                                                                                          \
        return result;                                                                             \
    }
OPENING(open)
OPENING(open64)
