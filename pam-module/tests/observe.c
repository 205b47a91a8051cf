// SPDX-License-Identifier: Apache-2.0
#include "observe.h"

#include "say.h"

#include <keyutils.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static key_serial_t last_ticket;

static void describe(const char *what, key_serial_t key) {
    char text[256] = "";
    if (keyctl_describe(key, text, sizeof text) < 0) {
        say("%s %d gone", what, key);
    } else {
        say("%s %d %s", what, key, text);
    }
}

static void show_keys(void) {
    describe("keyring", keyctl_get_keyring_ID(KEY_SPEC_SESSION_KEYRING, 0));
    long found = keyctl_search(KEY_SPEC_SESSION_KEYRING, "user", "keychain:ticket", 0);
    if (found < 0) {
        say("ticket none");
        return;
    }
    last_ticket = (key_serial_t)found;
    describe("ticket", last_ticket);
    uint8_t payload[64];
    long count = keyctl_read(last_ticket, (char *)payload, sizeof payload);
    unsigned sum = 0;
    for (long index = 0; index < count && index < (long)sizeof payload; index++) {
        sum = sum * 31 + payload[index];
    }
    say("payload %ld %u", count, sum);
}

// What the process holds in its own memory of a secret, which comes bytewise complemented, so that
// looking for it does not put it there.
static void scan(const char *hex) {
    uint8_t wanted[64];
    size_t count = 0;
    unsigned byte;
    unsigned hits = 0;
    for (; count < sizeof wanted && sscanf(hex + 2 * count, "%2x", &byte) == 1; count++) {
        wanted[count] = (uint8_t)byte;
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    if (maps == NULL || count == 0) abort();
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t from;
        uintptr_t to;
        char access[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3) continue;
        if (access[0] != 'r' || access[1] != 'w' || strstr(line, "[v") != NULL) continue;
        const volatile uint8_t *memory = (const volatile uint8_t *)from;
        for (size_t at = 0; at + count <= to - from; at++) {
            size_t same = 0;
            while (same < count && (memory[at + same] ^ wanted[same]) == 0xff)
                same++;
            if (same == count) hits++;
        }
    }
    fclose(maps);
    say("found %u", hits);
}

static void count_descriptors(void) {
    int count = 0;
    for (int file = 0; file < 256; file++) {
        if (syscall(SYS_fcntl, file, 1 /* F_GETFD */) >= 0) count++;
    }
    say("descriptors %d", count);
}

// Kilobytes that are locked, and mappings that core dumps leave out.
static void show_memory(void) {
    unsigned long locked = 0;
    unsigned left_out = 0;
    char line[512];
    FILE *status = fopen("/proc/self/status", "r");
    FILE *maps = fopen("/proc/self/smaps", "r");
    if (status == NULL || maps == NULL) abort();
    while (fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "VmLck: %lu", &locked);
    while (fgets(line, sizeof line, maps) != NULL) {
        // The kernel's own mappings are marked so too, and are there all the time.
        if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dd") != NULL) left_out++;
    }
    fclose(status);
    fclose(maps);
    say("memory %lu %u", locked, left_out);
}

// What of the process a module must leave as it is: signals, folder, ids, file mode mask.
static void show_process(void) {
    char line[512];
    char folder[256] = "";
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL) abort();
    while (fgets(line, sizeof line, status) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        // How many signals are queued (SigQ) is counted for the user, with all processes of root's.
        if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || strncmp(line, "Umask", 5) == 0 ||
            strncmp(line, "Uid", 3) == 0 || strncmp(line, "Gid", 3) == 0 ||
            strncmp(line, "Groups", 6) == 0) {
            say("process %s", line);
        }
    }
    fclose(status);
    if (getcwd(folder, sizeof folder) == NULL) abort();
    say("process folder %s", folder);
}

bool observe(const char *step) {
    if (strcmp(step, "keys") == 0) {
        show_keys();
    } else if (strcmp(step, "last-ticket") == 0) {
        describe("ticket", last_ticket);
    } else if (strcmp(step, "descriptors") == 0) {
        count_descriptors();
    } else if (strcmp(step, "thread-keys") == 0) {
        // Asking for the keyring makes it, which shows nothing of what was in it.
        key_serial_t keyring = keyctl_get_keyring_ID(KEY_SPEC_THREAD_KEYRING, 1);
        say("thread-keys %ld", keyctl_read(keyring, NULL, 0) / (long)sizeof(key_serial_t));
    } else if (strcmp(step, "memory") == 0) {
        show_memory();
    } else if (strcmp(step, "process") == 0) {
        show_process();
    } else if (strncmp(step, "scan=", 5) == 0) {
        scan(step + 5);
    } else {
        return false;
    }
    return true;
}
