// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    char name[32];
    // The program's addresses.
    size_t base;
    size_t end;
    int out;
} crash;

static int find_program(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    crash.base = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        size_t end = crash.base + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && end > crash.end) {
            crash.end = end;
        }
    }
    // The first object is the program; libraries are not needed.
    return 1;
}

static char *put_text(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, size_t number, unsigned base) {
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

// Only async-signal-safe calls. backtrace(3) was called before, and so no longer allocates.
static void tell_of_crash(int number) {
    void *places[24];
    char line[640];
    int count = backtrace(places, 24);
    char *end = put_text(line, crash.name);
    end = put_number(put_text(end, ": crashed by signal "), (size_t)number, 10);
    // The first address is in this function. Addresses in libraries are left out.
    char *places_begin = end;
    for (int i = 1; i < count; i++) {
        size_t place = (size_t)places[i];
        if (place >= crash.base && place < crash.end) {
            end = put_text(end, end == places_begin ? ", at +0x" : " +0x");
            end = put_number(end, place - crash.base, 16);
        }
    }
    if (end == places_begin) {
        end = put_text(end, ", in a library");
    }
    *end++ = '\n';
    ssize_t ignored = write(crash.out, line, (size_t)(end - line));
    (void)ignored;
    raise(number);
}

int kc_tell_of_crashes(const char *name) {
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    void *place[1];
    (void)snprintf(crash.name, sizeof crash.name, "%s", name);
    crash.out = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (crash.out < 0 || null < 0 || dup2(crash.out, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0) {
        return -1;
    }
    close(null);
    dl_iterate_phdr(find_program, NULL);
    (void)backtrace(place, 1);
    struct sigaction action = {.sa_handler = tell_of_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], &action, NULL) != 0) {
            return -1;
        }
    }
    return 0;
}
