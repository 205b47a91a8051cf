// SPDX-License-Identifier: Apache-2.0
#include "installation.h"

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file of root's in a folder of root's. Where the tests run as another user nothing is root's.
static char folder[] = "/run/keychain-starter-XXXXXX";
static char program[64];

static bool make(void) {
    if (geteuid() != 0 || mkdtemp(folder) == NULL || chmod(folder, 0755) != 0) return false;
    (void)snprintf(program, sizeof program, "%s/program", folder);
    int file = open(program, O_CREAT | O_WRONLY | O_EXCL, 0755);
    return file >= 0 && close(file) == 0;
}

static void forget(void) {
    (void)unlink(program);
    (void)rmdir(folder);
}

static bool trusted(void) {
    HOLDS(chmod(program, 0755) == 0 && chmod(folder, 0755) == 0);
    HOLDS(kc_is_roots_alone(program));
    return true;
}

static bool open_to_others(void) {
    static const mode_t modes[] = {0775, 0757};
    for (size_t index = 0; index < 2; index++) {
        HOLDS(chmod(program, modes[index]) == 0);
        HOLDS(!kc_is_roots_alone(program));
        HOLDS(chmod(program, 0755) == 0 && chmod(folder, modes[index]) == 0);
        HOLDS(!kc_is_roots_alone(program));
        HOLDS(chmod(folder, 0755) == 0);
    }
    return true;
}

static bool of_others(void) {
    HOLDS(chown(program, 1, 0) == 0 && !kc_is_roots_alone(program));
    HOLDS(chown(program, 0, 0) == 0 && chown(folder, 1, 0) == 0 && !kc_is_roots_alone(program));
    HOLDS(chown(folder, 0, 0) == 0);
    return true;
}

static bool other_things(void) {
    char link[80];
    (void)snprintf(link, sizeof link, "%s/link", folder);
    HOLDS(symlink(program, link) == 0);
    bool held = !kc_is_roots_alone(link);
    (void)unlink(link);
    HOLDS(held && !kc_is_roots_alone(folder) && !kc_is_roots_alone("program"));
    (void)snprintf(link, sizeof link, "%s/nothing", folder);
    HOLDS(!kc_is_roots_alone(link));
    return true;
}

static bool missing(void) {
    HOLDS(!kc_is_missing(program) && !kc_is_missing(folder));
    char path[80];
    (void)snprintf(path, sizeof path, "%s/nothing", folder);
    HOLDS(kc_is_missing(path));
    // What is there and is no program is not missing.
    HOLDS(symlink("nowhere", path) == 0);
    bool held = !kc_is_missing(path);
    (void)unlink(path);
    HOLDS(held);
    return true;
}

static bool paths(void) {
    static struct kc_installation installation = {.folder = "/usr/libexec/keychain"};
    char path[PATH_MAX];
    HOLDS(kc_installation_path(&installation, "keychain-tpm", path));
    HOLDS(strcmp(path, "/usr/libexec/keychain/keychain-tpm") == 0);
    memset(installation.folder, 'a', sizeof installation.folder - 1);
    HOLDS(!kc_installation_path(&installation, "keychain-tpm", path));
    return true;
}

static bool found(void) {
    static struct kc_installation installation;
    HOLDS(kc_installation_of(&installation, "/opt/a/libexec/keychain/keychain-audit",
                             "keychain-audit"));
    HOLDS(strcmp(installation.folder, "/opt/a/libexec/keychain") == 0);
    HOLDS(strcmp(installation.daemon, "/opt/a/sbin/keychaind") == 0);
    HOLDS(kc_installation_of(&installation, "/libexec/keychain/keychain-audit", "keychain-audit"));
    HOLDS(strcmp(installation.daemon, "/sbin/keychaind") == 0);
    return true;
}

static bool elsewhere(void) {
    static struct kc_installation installation;
    static char longest[PATH_MAX];
    static const char *const others[] = {
        "",
        "keychain-audit",
        "/libexec/keychain/keychain-auth",
        "/opt/libexec/keychain/keychain-audit (deleted)",
        "/opt/otherlibexec/keychain/keychain-audit",
        "/opt/libexec/keychain-audit",
    };
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++)
        HOLDS(!kc_installation_of(&installation, others[index], "keychain-audit"));
    memset(longest, 'a', sizeof longest - 1);
    memcpy(longest + PATH_MAX / 2, "/libexec/keychain/keychain-audit", 33);
    HOLDS(!kc_installation_of(&installation, longest, "keychain-audit"));
    HOLDS(!kc_installation_find(&installation, "keychain-starter"));
    return true;
}

static bool services(void) {
    HOLDS(!kc_has_service("keychain-no-such-service"));
    HOLDS(!kc_has_service("."));
    return true;
}

int main(void) {
    static const struct test tests[] = {
        {"a program of root's in folders of root's is trusted", trusted},
        {"one that others may write to, or to its folder, is not", open_to_others},
        {"one of another user, or in a folder of one, is not", of_others},
        {"a link, a folder, a relative path and nothing at all are no program", other_things},
        {"a program that is not there is told from one that is not trusted", missing},
        {"a program lies in the installation's folder", paths},
        {"an installation has its programs where its prefix says", found},
        {"a program elsewhere belongs to no installation", elsewhere},
        {"a service without a file is none", services},
    };
    if (!make()) {
        forget();
        printf("skip the rules of an installation: they need root\n");
        return geteuid() == 0;
    }
    int failed = RUN(tests);
    forget();
    return failed;
}
