// SPDX-License-Identifier: Apache-2.0
//
// The environment is set before main: setenv moves it, and a thread that reads it meanwhile misses
// what it has.
#define _GNU_SOURCE
#include "test_keychain.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 16 };

static char home[] = "/tmp/keychain-tests-XXXXXX";
static pid_t owner;

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

// A child that ends by exit leaves its parent's folder alone.
static void remove_home(void) {
    if (getpid() == owner) (void)nftw(home, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

__attribute__((constructor)) static void choose_keychain(void) {
    if (getenv("KEYCHAIN_HOME") != NULL) return;
    owner = getpid();
    if (mkdtemp(home) == NULL || atexit(remove_home) != 0 ||
        setenv("KEYCHAIN_ACCESS_GROUPS", TEST_KEYCHAIN_GROUPS, 1) != 0 ||
        setenv("KEYCHAIN_HOME", home, 1) != 0) {
        perror("The tests get no keychain of their own");
        exit(1);
    }
}
