// SPDX-License-Identifier: Apache-2.0
// become(PATH): from now on the calling program's /proc/PID/exe is that file, which it does not
// run.
//
// The kernel lets a process name another executable where none of its memory is its own file's, and
// where it is privileged in its user namespace (prctl(2), PR_SET_MM_MAP). So the program's memory
// is put in the place of its file's, and a child in a namespace of its own, with the same memory,
// names the other file. This code lies in a library, so that it is none of what it replaces.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[1 << 16] __attribute__((aligned(16)));
static struct prctl_mm_map map;

static int name_it(void *result) {
    *(int *)result = prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
    return 0;
}

// The fields of /proc/PID/stat are numbered from 1; the name, which is the second, may have spaces.
static unsigned long field(const char *stat, int number) {
    const char *at = strrchr(stat, ')') + 2;
    for (int i = 3; i < number; i++)
        at = strchr(at, ' ') + 1;
    return strtoul(at, NULL, 10);
}

static int replace(unsigned long start, unsigned long end, const char *rights) {
    size_t size = end - start;
    int protection =
        PROT_READ | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
    char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED || mprotect((void *)start, size, protection) != 0) return -1;
    memcpy(copy, (void *)start, size);
    if (mprotect(copy, size, protection) != 0) return -1;
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED ? -1
                                                                                                : 0;
}

int become(const char *path) {
    static char own[4096], stat[4096], lines[1 << 18];
    ssize_t count = readlink("/proc/self/exe", own, sizeof own - 1);
    int file = open("/proc/self/stat", O_RDONLY);
    if (count < 0 || read(file, stat, sizeof stat - 1) <= 0) return -1;
    close(file);
    file = open("/proc/self/maps", O_RDONLY);
    for (size_t length = 0; length < sizeof lines - 1; length += (size_t)count)
        if ((count = read(file, lines + length, sizeof lines - 1 - length)) <= 0) break;
    close(file);
    map = (struct prctl_mm_map){
        .start_code = field(stat, 26),
        .end_code = field(stat, 27),
        .start_stack = field(stat, 28),
        .start_data = field(stat, 45),
        .end_data = field(stat, 46),
        .start_brk = field(stat, 47),
        .brk = (unsigned long)sbrk(0),
        .arg_start = field(stat, 48),
        .arg_end = field(stat, 49),
        .env_start = field(stat, 50),
        .env_end = field(stat, 51),
        .exe_fd = (unsigned)open(path, O_RDONLY),
    };
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long start, end;
        char rights[8], *name = strchr(line, '/');
        if (!name || strcmp(name, own) != 0) continue;
        if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3) return -1;
        if (replace(start, end, rights) != 0) return -1;
    }
    int result = -1;
    int child = clone(name_it, stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, &result);
    return child > 0 && waitpid(child, NULL, 0) == child ? result : -1;
}
