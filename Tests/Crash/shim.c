// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program by the crash tests: counts its changes to the files below a folder, and
// at a chosen one ends the program, cuts the power or lets the disk fail.
//
//     CRASH_UNDER=/var/lib/keychain  whose files count
//     CRASH_BAD_SECTOR=INODE         of the file whose start can't be read
//     CRASH_WITHOUT_EXCHANGE=1       as on a file system that can't exchange two names in one step
//     CRASH_PLAN=/path/of/a/file     "NUMBER HOW": at which change, from 1; number 0 is none.
//                                    Nothing counts before the file is there.
//
//     before, half, after       the program is killed before the change, in its middle, after it
//     lost, torn                the power is cut: all that was not synced is lost, or some of it;
//                               after the last change: when the program has ended
//     full, error               the call fails; with -always all later ones do, too
//
// How many changes there have been stands in the file `PLAN.count`. The plan is over with the
// program that it ends: one that is started in its place counts nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
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

#include "unsynced.h"

enum fate { GO_ON, HALF, AFTER, FULL, ERROR };

// Held from the note of a change until it is made.
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static long count;

static bool is_under(const char *path) {
    const char *folder = getenv("CRASH_UNDER");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

// Where a path leads from a folder; a descriptor's own place where there is no path.
static bool is_placed_under(int folder, const char *path, char place[PATH_MAX]) {
    char link[64];
    place[0] = '\0';
    if (path == NULL || path[0] != '/') {
        if (folder == AT_FDCWD)
            strcpy(link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, place, PATH_MAX - 1);
        if (length < 0) return false;
        place[length] = '\0';
        if (path != NULL) strncat(place, "/", PATH_MAX - strlen(place) - 1);
    }
    if (path != NULL) strncat(place, path, PATH_MAX - strlen(place) - 1);
    return is_under(place);
}

static bool is_open_under(int file) {
    char place[PATH_MAX];
    struct stat status;
    return is_placed_under(file, NULL, place) && fstat(file, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

// The library's own reading and writing goes to the kernel directly, past what is below.
static bool read_plan(long *number, char how[16]) {
    char text[64] = {0};
    const char *plan = getenv("CRASH_PLAN");
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
    snprintf(path, sizeof path, "%s.count", getenv("CRASH_PLAN"));
    int length = snprintf(text, sizeof text, "%ld\n", count);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    syscall(SYS_pwrite64, file, text, (size_t)length, 0L);
    syscall(SYS_close, file);
}

static void end_here(void) {
    const char *plan = getenv("CRASH_PLAN");
    if (plan != NULL) syscall(SYS_unlinkat, AT_FDCWD, plan, 0);
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static enum fate next_fate(void) {
    long number = 0;
    char how[16];
    if (!read_plan(&number, how)) return GO_ON;
    count++;
    write_count();
    bool again = number > 0 && count > number && strstr(how, "-always") != NULL;
    if (count != number && !again) return GO_ON;
    if (strncmp(how, "full", 4) == 0) return FULL;
    if (strncmp(how, "error", 5) == 0) return ERROR;
    if (strcmp(how, "half") == 0) return HALF;
    if (strcmp(how, "after") == 0) return AFTER;
    if (strcmp(how, "lost") == 0) unsynced_lose(0);
    if (strcmp(how, "torn") == 0) unsynced_lose((unsigned long)number);
    end_here();
    return GO_ON;
}

// What a program that has ended well says that it did is to last.
__attribute__((destructor)) static void end(void) {
    long number = 0;
    char how[16];
    if (!read_plan(&number, how) || number != count + 1) return;
    if (strcmp(how, "lost") == 0) unsynced_lose(0);
    if (strcmp(how, "torn") == 0) unsynced_lose((unsigned long)number);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A call that changes what counts; what it leaves when it is cut in its middle; what is noted.
#define CHANGE(type, counts, call, half, note)                                                     \
    if (!(counts)) return call;                                                                    \
    pthread_mutex_lock(&changing);                                                                 \
    size_t known = unsynced_count();                                                               \
    enum fate fate = next_fate();                                                                  \
    if (fate == HALF) {                                                                            \
        half;                                                                                      \
        end_here();                                                                                \
    }                                                                                              \
    type result = -1;                                                                              \
    if (fate == GO_ON || fate == AFTER) {                                                          \
        note;                                                                                      \
        result = call;                                                                             \
    } else {                                                                                       \
        errno = fate == FULL ? ENOSPC : EIO;                                                       \
    }                                                                                              \
    int error = errno;                                                                             \
    if (result < 0) unsynced_forget(known);                                                        \
    if (fate == AFTER) end_here();                                                                 \
    pthread_mutex_unlock(&changing);                                                               \
    errno = error;                                                                                 \
    return result

static off_t next_offset(int file) {
    struct stat status;
    bool appends = (fcntl(file, F_GETFL) & O_APPEND) != 0;
    if (appends && fstat(file, &status) == 0) return status.st_size;
    return lseek(file, 0, SEEK_CUR);
}

ssize_t write(int file, const void *bytes, size_t size) {
    CHANGE(ssize_t, is_open_under(file), REAL(write)(file, bytes, size),
           (void)!REAL(write)(file, bytes, size / 2),
           unsynced_write(file, next_offset(file), size));
}

#define WRITING(name, offset_type)                                                                 \
    ssize_t name(int file, const void *bytes, size_t size, offset_type offset) {                   \
        CHANGE(ssize_t, is_open_under(file), REAL(name)(file, bytes, size, offset),                \
               (void)!REAL(name)(file, bytes, size / 2, offset),                                   \
               unsynced_write(file, offset, size));                                                \
    }
WRITING(pwrite, off_t)
WRITING(pwrite64, off64_t)

static bool is_bad(int file, off64_t offset) {
    const char *inode = getenv("CRASH_BAD_SECTOR");
    struct stat status;
    return inode != NULL && offset == 0 && fstat(file, &status) == 0 &&
           status.st_ino == strtoul(inode, NULL, 10);
}

#define READING(name, offset_type)                                                                 \
    ssize_t name(int file, void *bytes, size_t size, offset_type offset) {                         \
        if (is_bad(file, offset)) {                                                                \
            errno = EIO;                                                                           \
            return -1;                                                                             \
        }                                                                                          \
        return REAL(name)(file, bytes, size, offset);                                              \
    }
READING(pread, off_t)
READING(pread64, off64_t)

#define SHORTENING(name, length_type)                                                              \
    int name(int file, length_type length) {                                                       \
        CHANGE(int, is_open_under(file), REAL(name)(file, length), (void)0,                        \
               unsynced_length(file, length));                                                     \
    }
SHORTENING(ftruncate, off_t)
SHORTENING(ftruncate64, off64_t)

#define SYNCING(name)                                                                              \
    int name(int file) {                                                                           \
        if (!is_open_under(file)) return REAL(name)(file);                                         \
        pthread_mutex_lock(&changing);                                                             \
        enum fate fate = next_fate();                                                              \
        if (fate == HALF) end_here();                                                              \
        int result = fate == FULL || fate == ERROR ? -1 : REAL(name)(file);                        \
        int error = result == 0 ? 0 : fate == FULL ? ENOSPC : EIO;                                 \
        if (result == 0) unsynced_synced(file);                                                    \
        if (fate == AFTER) end_here();                                                             \
        pthread_mutex_unlock(&changing);                                                           \
        errno = error;                                                                             \
        return result;                                                                             \
    }
SYNCING(fsync)
SYNCING(fdatasync)

// Changes of names, which are made or not.
#define NAMING(name, parameters, arguments, folder, path, note)                                    \
    int name parameters {                                                                          \
        char place[PATH_MAX];                                                                      \
        CHANGE(int, is_placed_under(folder, path, place), REAL(name) arguments, (void)0, note);    \
    }
NAMING(unlink, (const char *path), (path), AT_FDCWD, path, unsynced_gone(place))
NAMING(rmdir, (const char *path), (path), AT_FDCWD, path, unsynced_gone(place))
NAMING(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder, path,
       unsynced_gone(place))
NAMING(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path,
       unsynced_new_name(place))
NAMING(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path,
       unsynced_new_name(place))
NAMING(link, (const char *from, const char *path), (from, path), AT_FDCWD, path,
       unsynced_new_name(place))
NAMING(linkat, (int from, const char *old, int folder, const char *path, int flags),
       (from, old, folder, path, flags), folder, path, unsynced_new_name(place))

static void note_rename(int folder, const char *from, const char *to, unsigned int flags) {
    char place[PATH_MAX];
    is_placed_under(folder, from, place);
    unsynced_renamed(place, to, (flags & RENAME_EXCHANGE) != 0);
}
NAMING(rename, (const char *from, const char *path), (from, path), AT_FDCWD, path,
       note_rename(AT_FDCWD, from, place, 0))
static int renamed(int from_folder, const char *from, int folder, const char *path,
                   unsigned int flags) {
    char place[PATH_MAX];
    CHANGE(int, is_placed_under(folder, path, place),
           REAL(renameat2)(from_folder, from, folder, path, flags), (void)0,
           note_rename(from_folder, from, place, flags));
}

int renameat2(int from_folder, const char *from, int folder, const char *path, unsigned int flags) {
    if ((flags & RENAME_EXCHANGE) != 0 && getenv("CRASH_WITHOUT_EXCHANGE") != NULL) {
        errno = EINVAL;
        return -1;
    }
    return renamed(from_folder, from, folder, path, flags);
}

static void note_opening(const char *place, int flags) {
    bool is_there = access(place, F_OK) == 0;
    if (!is_there) unsynced_new_name(place);
    if (is_there && (flags & O_TRUNC) != 0) unsynced_emptied(place);
}

static int opened(int (*real)(int, const char *, int, ...), int folder, const char *path, int flags,
                  mode_t mode) {
    char place[PATH_MAX];
    CHANGE(int, (flags & (O_CREAT | O_TRUNC)) != 0 && is_placed_under(folder, path, place),
           real(folder, path, flags, mode), (void)0, note_opening(place, flags));
}

#define MODE(flags)                                                                                \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;                 \
    va_end(rest)
#define OPENING(name, name_at)                                                                     \
    int name(const char *path, int flags, ...) {                                                   \
        MODE(flags);                                                                               \
        return opened(REAL(name_at), AT_FDCWD, path, flags, mode);                                 \
    }                                                                                              \
    int name_at(int folder, const char *path, int flags, ...) {                                    \
        MODE(flags);                                                                               \
        return opened(REAL(name_at), folder, path, flags, mode);                                   \
    }
OPENING(open, openat)
OPENING(open64, openat64)

// What a password costs is no part of what is tested: with this, each derivation takes no time.
int crypto_pwhash(unsigned char *out, unsigned long long out_size, const char *password,
                  unsigned long long password_size, const unsigned char *salt,
                  unsigned long long passes, size_t memory, int algorithm) {
    (void)passes, (void)memory;
    return REAL(crypto_pwhash)(out, out_size, password, password_size, salt, 1, 8192, algorithm);
}
