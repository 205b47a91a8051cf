// SPDX-License-Identifier: Apache-2.0
#include "adopt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The folder in that of runtime files.
static const char users[] = "users";

static enum kc_start_word refuse(const char *why, uint32_t user, const char *name) {
    fprintf(stderr, "keychain-starter: user %u: %s: %s\n", user, name, why);
    return KC_START_FOREIGN_FOLDER;
}

static enum kc_start_word fail(uint32_t user, const char *name) {
    fprintf(stderr, "keychain-starter: user %u: %s: %s\n", user, name, strerror(errno));
    return KC_START_FAILED;
}

static int open_folder(int parent, const char *name) {
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Makes the folder, closed to others, where it is missing.
static int make_folder(int parent, const char *name) {
    int folder = open_folder(parent, name);
    if (folder >= 0 || errno != ENOENT) return folder;
    if (mkdirat(parent, name, S_IRWXU) != 0) {
        if (errno != EEXIST) return -1;
    } else {
        // A power cut could otherwise remove the new folder with everything in it.
        (void)fsync(parent);
    }
    return open_folder(parent, name);
}

static bool is_of_numbers(uint32_t owner) {
    return owner >= KC_START_NUMBER_FIRST && owner - KC_START_NUMBER_FIRST < KC_START_NUMBERS;
}

static bool is_known(const struct stat *facts, uint32_t number) {
    return facts->st_uid == 0 || facts->st_uid == number;
}

// Without this setting of the kernel, the number could have linked a file of root's into a folder
// of its own, and waited until the file lost its former name.
static bool links_are_protected(void) {
    char value = '0';
    int file = open("/proc/sys/fs/protected_hardlinks", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_read = read(file, &value, 1) == 1;
    close(file);
    return is_read && value == '1';
}

// ---- A folder's files --------------------------------------------------------------------------

// Who gets a folder's files: `number`. `user` is for the log. Files of root's are given where
// `takes_roots`, those of all numbers where `takes_numbers`.
struct adoption {
    uint32_t user;
    uint32_t number;
    bool takes_roots;
    bool takes_numbers;
};

static bool takes(const struct stat *facts, const struct adoption *adoption) {
    if (facts->st_uid == adoption->number) return true;
    if (facts->st_uid == 0) return adoption->takes_roots;
    return adoption->takes_numbers && is_of_numbers(facts->st_uid);
}

static enum kc_start_word adopt_file(int file, const char *name, const struct adoption *adoption) {
    struct stat facts;
    if (fstat(file, &facts) != 0) return fail(adoption->user, name);
    if (!S_ISREG(facts.st_mode)) return 0;
    // A cut can leave one of the number's own with two names, the former and the new one.
    if (facts.st_uid == adoption->number && facts.st_gid == adoption->number) return 0;
    if (!takes(&facts, adoption)) {
        fprintf(stderr, "keychain-starter: user %u: %s stays uid %u's\n", adoption->user, name,
                facts.st_uid);
        return 0;
    }
    if (facts.st_nlink > 1) return refuse("has several names", adoption->user, name);
    int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
    return fchownat(file, "", adoption->number, adoption->number, flags) == 0
               ? 0
               : fail(adoption->user, name);
}

// A file that has gone meanwhile is none.
static enum kc_start_word adopt_entry(int folder, const char *name,
                                      const struct adoption *adoption) {
    int file = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return errno == ENOENT ? 0 : fail(adoption->user, name);
    enum kc_start_word why = adopt_file(file, name, adoption);
    close(file);
    return why;
}

static enum kc_start_word adopt_entries(DIR *list, const struct adoption *adoption) {
    for (int count = 0;;) {
        errno = 0;
        const struct dirent *entry = readdir(list);
        if (entry == NULL) return errno == 0 ? 0 : fail(adoption->user, "a folder");
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (++count > KC_MOST_ADOPTED) {
            errno = E2BIG;
            return fail(adoption->user, "a folder");
        }
        enum kc_start_word why = adopt_entry(dirfd(list), entry->d_name, adoption);
        if (why != 0) return why;
    }
}

// The folder's entries, with a position of their own: descriptors that are copies share one.
static DIR *entries_of(int folder) {
    int copy = open_folder(folder, ".");
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    if (list == NULL && copy >= 0) {
        int why = errno;
        close(copy);
        errno = why;
    }
    return list;
}

static enum kc_start_word adopt_files(int folder, const struct adoption *adoption) {
    DIR *list = entries_of(folder);
    if (list == NULL) return fail(adoption->user, "a folder");
    enum kc_start_word why = adopt_entries(list, adoption);
    (void)closedir(list);
    return why;
}

// ---- Folders -----------------------------------------------------------------------------------

// The folder is the last to become the number's, so that what was cut short is done again.
static enum kc_start_word adopt_open(int folder, uint32_t user, uint32_t number) {
    struct stat facts;
    if (fstat(folder, &facts) != 0) return fail(user, "a folder");
    if (!is_known(&facts, number)) return refuse("is another user's", user, "a folder");
    // No number could put a file into a folder of root's: one of another number's is the user's,
    // from a change of owners that a cut ended, after which another user got the number.
    bool is_roots = facts.st_uid == 0;
    const struct adoption adoption = {user, number, is_roots || links_are_protected(), is_roots};
    enum kc_start_word why = adopt_files(folder, &adoption);
    if (why != 0 || (facts.st_uid == number && facts.st_gid == number)) return why;
    return fchown(folder, number, number) == 0 ? 0 : fail(user, "a folder");
}

static enum kc_start_word adopt_in(int parent, uint32_t user, uint32_t number) {
    char name[12];
    (void)snprintf(name, sizeof name, "%u", user);
    int folder = make_folder(parent, name);
    if (folder < 0) return fail(user, name);
    enum kc_start_word why = adopt_open(folder, user, number);
    close(folder);
    return why;
}

// Users pass through the folder to their own, and see no others.
static bool open_to_pass(int folder) {
    const mode_t mode = S_IRWXU | S_IXGRP | S_IXOTH;
    struct stat facts;
    if (fstat(folder, &facts) != 0) return false;
    errno = EPERM;
    if (facts.st_uid != 0) return false;
    return (facts.st_mode & ALLPERMS) == mode || fchmod(folder, mode) == 0;
}

static bool is_former(int folder, uint32_t number) {
    struct stat facts;
    return fstat(folder, &facts) == 0 && facts.st_uid != number && is_of_numbers(facts.st_uid);
}

// The folder is root's before it is emptied, so that its former number puts nothing into it
// meanwhile.
static enum kc_start_word empty(int folder, uint32_t user) {
    if (fchown(folder, 0, 0) != 0) return fail(user, users);
    DIR *list = entries_of(folder);
    if (list == NULL) return fail(user, users);
    const struct dirent *entry = NULL;
    // A folder in it stays, and is left there by what adopts the files.
    for (int count = 0; count < KC_MOST_ADOPTED && (entry = readdir(list)) != NULL; count++)
        (void)unlinkat(dirfd(list), entry->d_name, 0);
    (void)closedir(list);
    return 0;
}

// What a user's earlier number left, as before a state was put back or made anew, is of no use to
// the present one: it is known in this boot only, and sealed under a key of that state's.
static enum kc_start_word adopt_records(int parent, uint32_t user, uint32_t number) {
    char name[12];
    (void)snprintf(name, sizeof name, "%u", user);
    int folder = open_folder(parent, name);
    enum kc_start_word why = 0;
    if (folder >= 0 && is_former(folder, number)) why = empty(folder, user);
    if (folder >= 0) close(folder);
    return why != 0 ? why : adopt_in(parent, user, number);
}

static enum kc_start_word adopt_runtime(int runtime, uint32_t user, uint32_t number) {
    int folder = make_folder(runtime, users);
    if (folder < 0) return fail(user, users);
    enum kc_start_word why =
        open_to_pass(folder) ? adopt_records(folder, user, number) : fail(user, users);
    close(folder);
    return why;
}

// The state is the last, as its owner tells the user's number.
enum kc_start_word kc_adopt(int states, int runtime, uint32_t user, uint32_t number) {
    enum kc_start_word why = adopt_runtime(runtime, user, number);
    return why != 0 ? why : adopt_in(states, user, number);
}
