// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "unsynced.h"

#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { CONTENTS, NEW_NAME, GONE, RENAMED, EXCHANGED };

struct change {
    enum kind kind;
    // Of contents: whose; where; how much there was of what was overwritten, and of the file.
    size_t file;
    off_t offset, end, length;
    char *old;
    size_t old_size;
    // Of names: in which folder; a folder has a mode and no file.
    dev_t device;
    ino_t folder;
    char *path, *to;
    mode_t mode;
};

// Never closed: with any of its descriptors a process loses all its locks of a file.
struct file {
    dev_t device;
    ino_t number;
    int descriptor;
};

enum { NONE = -1 };
static struct change *changes;
static size_t change_count, change_room;
static struct file *files;
static size_t file_count, file_room;

static void *grown(void *list, size_t count, size_t *room, size_t size) {
    if (count < *room) return list;
    *room = *room == 0 ? 64 : *room * 2;
    list = realloc(list, *room * size);
    if (list == NULL) abort();
    return list;
}

// Past the shim's own calls, and those of any other library.
static int opened(const char *path, int flags, mode_t mode) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static struct change *noted(enum kind kind) {
    changes = grown(changes, change_count, &change_room, sizeof *changes);
    struct change *change = &changes[change_count++];
    *change = (struct change){.kind = kind};
    return change;
}

static size_t known(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) abort();
    for (size_t i = 0; i < file_count; i++) {
        if (files[i].device == status.st_dev && files[i].number == status.st_ino) return i;
    }
    int descriptor = opened(path, O_RDWR, 0);
    if (descriptor < 0) abort();
    files = grown(files, file_count, &file_room, sizeof *files);
    files[file_count] = (struct file){status.st_dev, status.st_ino, descriptor};
    return file_count++;
}

static off_t length_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_size : 0;
}

static char *contents(int file, off_t offset, size_t size, size_t *got) {
    char *bytes = malloc(size + 1);
    if (bytes == NULL) abort();
    long count = syscall(SYS_pread64, file, bytes, size, offset);
    *got = count > 0 ? (size_t)count : 0;
    return bytes;
}

static void note_contents(const char *path, off_t offset, off_t end, size_t overwritten) {
    size_t file = known(path);
    struct change *change = noted(CONTENTS);
    int descriptor = files[file].descriptor;
    change->file = file;
    change->offset = offset;
    change->end = end;
    change->length = length_of(descriptor);
    change->old = contents(descriptor, offset, overwritten, &change->old_size);
}

static void note_length(const char *path, off_t before, off_t after) {
    off_t least = before < after ? before : after;
    // From there on nothing is independent of it.
    note_contents(path, least, LONG_MAX, (size_t)(before - least));
}

static char *copied(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL) abort();
    return copy;
}

static struct change *note_name(enum kind kind, const char *path) {
    struct change *change = noted(kind);
    char *copy = copied(path);
    struct stat status;
    if (stat(dirname(copy), &status) == 0) {
        change->device = status.st_dev;
        change->folder = status.st_ino;
    }
    free(copy);
    change->path = copied(path);
    return change;
}

size_t unsynced_count(void) { return change_count; }

static void drop(struct change *change) {
    free(change->old);
    free(change->path);
    free(change->to);
}

void unsynced_forget(size_t count) {
    while (change_count > count)
        drop(&changes[--change_count]);
}

static void name_of(int file, char path[32]) { snprintf(path, 32, "/proc/self/fd/%d", file); }

void unsynced_write(int file, off_t offset, size_t size) {
    char path[32];
    name_of(file, path);
    note_contents(path, offset, offset + (off_t)size, size);
}

void unsynced_length(int file, off_t length) {
    char path[32];
    name_of(file, path);
    note_length(path, length_of(file), length);
}

void unsynced_emptied(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0) note_length(path, status.st_size, 0);
}

void unsynced_new_name(const char *path) { note_name(NEW_NAME, path); }

void unsynced_gone(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return;
    bool is_folder = S_ISDIR(status.st_mode);
    size_t file = is_folder ? 0 : known(path);
    struct change *change = note_name(GONE, path);
    change->file = file;
    change->mode = is_folder ? status.st_mode : 0;
}

void unsynced_renamed(const char *from, const char *to, bool exchanged) {
    if (!exchanged) unsynced_gone(to);
    struct change *change = note_name(exchanged ? EXCHANGED : RENAMED, to);
    change->to = change->path;
    change->path = copied(from);
}

void unsynced_synced(int file) {
    struct stat status;
    if (fstat(file, &status) != 0) return;
    size_t kept = 0;
    for (size_t i = 0; i < change_count; i++) {
        struct change *change = &changes[i];
        struct file *of = change->kind == CONTENTS ? &files[change->file] : NULL;
        bool lasts = of != NULL
                         ? of->device == status.st_dev && of->number == status.st_ino
                         : change->device == status.st_dev && change->folder == status.st_ino;
        if (lasts)
            drop(change);
        else
            changes[kept++] = *change;
    }
    change_count = kept;
}

// Losing.

static int removed(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)status, (void)type, (void)place;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, type == FTW_DP ? AT_REMOVEDIR : 0);
}

static void bring_back(struct change *change) {
    if (change->mode != 0) {
        syscall(SYS_mkdirat, AT_FDCWD, change->path, change->mode & 07777);
        return;
    }
    struct file *file = &files[change->file];
    struct stat status;
    char name[32];
    name_of(file->descriptor, name);
    if (fstat(file->descriptor, &status) != 0) abort();
    if (status.st_nlink > 0) {
        syscall(SYS_linkat, AT_FDCWD, name, AT_FDCWD, change->path, AT_SYMLINK_FOLLOW);
        return;
    }
    int made = opened(change->path, O_RDWR | O_CREAT | O_EXCL, status.st_mode & 07777);
    if (made < 0) abort();
    size_t size;
    char *bytes = contents(file->descriptor, 0, (size_t)status.st_size, &size);
    syscall(SYS_pwrite64, made, bytes, size, 0L);
    syscall(SYS_fchown, made, status.st_uid, status.st_gid);
    free(bytes);
    file->descriptor = made;
}

static void put_back(struct change *change) {
    int file = files[change->file].descriptor;
    syscall(SYS_pwrite64, file, change->old, change->old_size, change->offset);
    off_t now = length_of(file);
    if (change->end >= now) {
        syscall(SYS_ftruncate, file, change->length);
        return;
    }
    // Others that lasted lie behind it.
    static const char zero[1];
    off_t from = change->offset + (off_t)change->old_size;
    for (; from < change->end; from++)
        syscall(SYS_pwrite64, file, zero, 1L, from);
}

static void undo(struct change *change) {
    switch (change->kind) {
    case CONTENTS: put_back(change); break;
    case NEW_NAME: nftw(change->path, removed, 16, FTW_DEPTH | FTW_PHYS); break;
    case GONE: bring_back(change); break;
    case RENAMED: syscall(SYS_renameat2, AT_FDCWD, change->to, AT_FDCWD, change->path, 0); break;
    case EXCHANGED:
        syscall(SYS_renameat2, AT_FDCWD, change->to, AT_FDCWD, change->path, RENAME_EXCHANGE);
        break;
    }
}

static unsigned long mixed(unsigned long number) {
    number += 0x9e3779b97f4a7c15;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

// What was written over it, and reached the disk, stays.
static bool is_covered(size_t number, const bool *lasts) {
    struct change *change = &changes[number];
    for (size_t i = number + 1; i < change_count; i++) {
        struct change *later = &changes[i];
        if (lasts[i] && later->kind == CONTENTS && later->file == change->file &&
            later->offset < change->end && change->offset < later->end)
            return true;
    }
    return false;
}

void unsynced_lose(unsigned long seed) {
    bool *lasts = calloc(change_count + 1, sizeof *lasts);
    if (lasts == NULL) abort();
    size_t from = seed == 0 ? 0 : mixed(seed) % (change_count + 1);
    for (size_t i = change_count; i-- > 0;) {
        bool is_contents = changes[i].kind == CONTENTS;
        bool reached = seed != 0 && is_contents && mixed(seed + i + 1) % 2 == 0;
        lasts[i] = (!is_contents && i < from) || reached || (is_contents && is_covered(i, lasts));
        if (!lasts[i]) undo(&changes[i]);
    }
    free(lasts);
}
