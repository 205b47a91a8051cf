// SPDX-License-Identifier: Apache-2.0
#include "adopt.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USER = 1000, NUMBER = 0x7b000007, OTHER = NUMBER + 1 };

// Each test has two folders of root's, for states and for runtime files. Where the tests run as
// another user, nothing can be given to a number.
static char root[64];
static int states = -1;
static int runtime = -1;

static int folder_at(const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return mkdir(path, 0755) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool make(void) {
    (void)snprintf(root, sizeof root, "/run/keychain-adopt-XXXXXX");
    // As the starter has it.
    (void)umask(S_IRWXG | S_IRWXO);
    if (geteuid() != 0 || mkdtemp(root) == NULL) return false;
    states = folder_at("states");
    runtime = folder_at("runtime");
    return states >= 0 && runtime >= 0;
}

static void forget(void) {
    char words[96];
    (void)snprintf(words, sizeof words, "rm -rf '%s'", root);
    close(states);
    close(runtime);
    if (system(words) != 0) abort();
}

static enum kc_start_word adopt(void) { return kc_adopt(states, runtime, USER, NUMBER); }

// The file or folder, by its path below that of states.
static struct stat facts_in(int parent, const char *path) {
    struct stat facts;
    memset(&facts, 0xff, sizeof facts);
    (void)fstatat(parent, path, &facts, AT_SYMLINK_NOFOLLOW);
    return facts;
}

static bool is_of(const char *path, uid_t user, gid_t group) {
    struct stat facts = facts_in(states, path);
    return facts.st_uid == user && facts.st_gid == group;
}

static bool is_numbers(const char *path) { return is_of(path, NUMBER, NUMBER); }

static bool put(const char *path, uid_t owner, gid_t group) {
    int file = openat(states, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    return file >= 0 && close(file) == 0 && fchownat(states, path, owner, group, 0) == 0;
}

// As after a state that was put back from elsewhere.
static bool records_of_a_former_number_go(void) {
    HOLDS(adopt() == 0);
    int users = openat(runtime, "users", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    HOLDS(fchownat(users, "1000", OTHER, OTHER, 0) == 0);
    int file = openat(users, "1000/record", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    HOLDS(file >= 0 && close(file) == 0);
    HOLDS(adopt() == 0);
    struct stat own = facts_in(users, "1000");
    HOLDS(own.st_uid == NUMBER && own.st_gid == NUMBER && (own.st_mode & ALLPERMS) == 0700);
    HOLDS(faccessat(users, "1000/record", F_OK, 0) != 0 && errno == ENOENT);
    close(users);
    return true;
}

static bool made(void) {
    HOLDS(adopt() == 0 && is_numbers("1000"));
    HOLDS((facts_in(states, "1000").st_mode & ALLPERMS) == 0700);
    struct stat users = facts_in(runtime, "users");
    HOLDS(S_ISDIR(users.st_mode) && users.st_uid == 0 && users.st_gid == 0);
    HOLDS((users.st_mode & ALLPERMS) == 0711);
    struct stat own = facts_in(runtime, "users/1000");
    HOLDS(S_ISDIR(own.st_mode) && own.st_uid == NUMBER && own.st_gid == NUMBER);
    HOLDS((own.st_mode & ALLPERMS) == 0700);
    HOLDS(adopt() == 0 && is_numbers("1000"));
    HOLDS(kc_adopt(states, runtime, 0, OTHER) == 0 && is_of("0", OTHER, OTHER));
    HOLDS(is_numbers("1000"));
    return true;
}

static bool files(void) {
    HOLDS(mkdirat(states, "1000", 0700) == 0);
    HOLDS(put("1000/a", 0, 0) && put("1000/b", NUMBER, 0) && put("1000/c", NUMBER, NUMBER));
    HOLDS(put("root", 0, 0) && symlinkat("../root", states, "1000/link") == 0);
    HOLDS(mkdirat(states, "1000/folder", 0700) == 0 && put("1000/folder/in", 0, 0));
    HOLDS(mkfifoat(states, "1000/pipe", 0600) == 0 && put("1000/others", USER, USER));
    HOLDS(put("1000/former", OTHER, OTHER) && adopt() == 0);
    HOLDS(is_numbers("1000") && is_numbers("1000/a") && is_numbers("1000/b"));
    HOLDS(is_numbers("1000/c"));
    HOLDS(is_of("root", 0, 0) && is_of("1000/link", 0, 0) && is_of("1000/folder", 0, 0));
    HOLDS(is_of("1000/folder/in", 0, 0) && is_of("1000/pipe", 0, 0));
    HOLDS(is_of("1000/others", USER, USER) && is_numbers("1000/former"));
    // From here on the number can put files into the folder.
    HOLDS(put("1000/later", OTHER, OTHER) && adopt() == 0 && is_of("1000/later", OTHER, OTHER));
    return true;
}

static bool others_folders(void) {
    HOLDS(mkdirat(states, "1000", 0700) == 0 && put("1000/a", 0, 0));
    HOLDS(fchownat(states, "1000", OTHER, OTHER, 0) == 0);
    HOLDS(adopt() == KC_START_FOREIGN_FOLDER);
    HOLDS(is_of("1000", OTHER, OTHER) && is_of("1000/a", 0, 0));
    HOLDS(fchownat(states, "1000", 0, 0, 0) == 0 && adopt() == 0);
    HOLDS(fchownat(runtime, "users/1000", USER, USER, 0) == 0);
    HOLDS(adopt() == KC_START_FOREIGN_FOLDER);
    HOLDS(fchownat(runtime, "users/1000", 0, 0, 0) == 0 && adopt() == 0);
    HOLDS(fchownat(runtime, "users", OTHER, 0, 0) == 0 && adopt() == KC_START_FAILED);
    return true;
}

static bool several_names(void) {
    HOLDS(mkdirat(states, "1000", 0700) == 0 && put("secret", 0, 0));
    HOLDS(linkat(states, "secret", states, "1000/a", 0) == 0);
    HOLDS(adopt() == KC_START_FOREIGN_FOLDER);
    HOLDS(is_of("secret", 0, 0) && is_of("1000", 0, 0));
    HOLDS(unlinkat(states, "1000/a", 0) == 0 && adopt() == 0 && is_numbers("1000"));
    HOLDS(is_of("secret", 0, 0));
    return true;
}

static bool own_with_several_names(void) {
    HOLDS(mkdirat(states, "1000", 0700) == 0 && put("1000/a", NUMBER, NUMBER));
    HOLDS(linkat(states, "1000/a", states, "1000/b", 0) == 0);
    HOLDS(adopt() == 0 && is_numbers("1000") && is_numbers("1000/a"));
    return true;
}

static bool no_folders(void) {
    HOLDS(mkdirat(states, "elsewhere", 0700) == 0 && put("elsewhere/a", 0, 0));
    HOLDS(symlinkat("elsewhere", states, "1000") == 0 && adopt() == KC_START_FAILED);
    HOLDS(is_of("1000", 0, 0) && is_of("elsewhere", 0, 0) && is_of("elsewhere/a", 0, 0));
    HOLDS(unlinkat(states, "1000", 0) == 0 && put("1000", 0, 0) && adopt() == KC_START_FAILED);
    HOLDS(is_of("1000", 0, 0) && unlinkat(states, "1000", 0) == 0);
    HOLDS(unlinkat(runtime, "users/1000", AT_REMOVEDIR) == 0);
    HOLDS(symlinkat("../../states/elsewhere", runtime, "users/1000") == 0);
    HOLDS(adopt() == KC_START_FAILED && is_of("elsewhere", 0, 0));
    HOLDS(unlinkat(runtime, "users/1000", 0) == 0);
    HOLDS(unlinkat(runtime, "users", AT_REMOVEDIR) == 0);
    HOLDS(symlinkat("../states/elsewhere", runtime, "users") == 0);
    HOLDS(adopt() == KC_START_FAILED && is_of("elsewhere", 0, 0));
    HOLDS((facts_in(states, "elsewhere").st_mode & ALLPERMS) == 0700);
    return true;
}

static bool too_many(void) {
    char name[32];
    HOLDS(mkdirat(states, "1000", 0700) == 0);
    for (int count = 0; count <= KC_MOST_ADOPTED; count++) {
        (void)snprintf(name, sizeof name, "1000/%d", count);
        HOLDS(put(name, 0, 0));
    }
    HOLDS(adopt() == KC_START_FAILED && is_of("1000", 0, 0));
    HOLDS(unlinkat(states, "1000/0", 0) == 0 && adopt() == 0);
    HOLDS(is_numbers("1000") && is_numbers("1000/1") && is_numbers(name));
    return true;
}

// Where the kernel protects links, what root has put there meanwhile becomes the number's.
static bool again(void) {
    char value = '0';
    int file = open("/proc/sys/fs/protected_hardlinks", O_RDONLY | O_CLOEXEC);
    bool is_protected = file >= 0 && read(file, &value, 1) == 1 && value == '1';
    close(file);
    HOLDS(adopt() == 0 && put("1000/restored", 0, 0) && adopt() == 0);
    HOLDS(is_protected ? is_numbers("1000/restored") : is_of("1000/restored", 0, 0));
    return true;
}

static bool passed_through(void) {
    HOLDS(mkdirat(runtime, "users", 0700) == 0 && adopt() == 0);
    HOLDS((facts_in(runtime, "users").st_mode & ALLPERMS) == 0711);
    return true;
}

// The test in new folders, which are gone after it.
#define IN_NEW_FOLDERS(name)                                                                       \
    static bool test_##name(void) {                                                                \
        bool held = make() && name();                                                              \
        forget();                                                                                  \
        return held;                                                                               \
    }

IN_NEW_FOLDERS(made)
IN_NEW_FOLDERS(files)
IN_NEW_FOLDERS(others_folders)
IN_NEW_FOLDERS(several_names)
IN_NEW_FOLDERS(own_with_several_names)
IN_NEW_FOLDERS(no_folders)
IN_NEW_FOLDERS(too_many)
IN_NEW_FOLDERS(again)
IN_NEW_FOLDERS(records_of_a_former_number_go)
IN_NEW_FOLDERS(passed_through)

int main(void) {
    static const struct test tests[] = {
        {"folders that are missing are made, the number's and closed to others", test_made},
        {"the number gets files of root's, and in a folder of root's those of numbers", test_files},
        {"a folder of another user is refused", test_others_folders},
        {"a file with several names is refused, and stays whose it is", test_several_names},
        {"a file of the number's may have several names", test_own_with_several_names},
        {"no link is followed, and what is no folder is none", test_no_folders},
        {"so many files and no more are looked at, and what was cut is done again", test_too_many},
        {"what root puts there later becomes the number's, too", test_again},
        {"records of the number that the user had before are removed",
         test_records_of_a_former_number_go},
        {"the folder of all users is open to pass through", test_passed_through},
    };
    if (geteuid() != 0) {
        printf("skip the adoption of folders: it needs root\n");
        return 0;
    }
    return RUN(tests);
}
