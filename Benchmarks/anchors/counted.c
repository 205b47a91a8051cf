// SPDX-License-Identifier: Apache-2.0
// counted PID COUNTER…: how often a process does what the counters name, in all of its threads.
//
// A counter is NAME=WHAT, and WHAT one of
//   call           every system call
//   call:NUMBER    system calls of that number
//   switch         changes from one thread to another
//   at:OFFSET:FILE every passing of that place of a program or library (a file offset)
// Each line that comes in is answered with a line of JSON: the counts since the line before. The
// kernel counts (perf_event_open), so neither load nor other processes disturb the counts. Ends
// with 77 where the kernel does not let us, and says what it refused.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77, MOST_COUNTERS = 32, MOST_THREADS = 512 };

struct counter {
    const char *name;
    struct perf_event_attr attributes;
    char filter[32];
    uint64_t told;
    int threads[MOST_THREADS];
};

static struct counter counters[MOST_COUNTERS];
static int counter_count;
static int thread_count;

static void refuse(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(SKIPPED);
}

static uint64_t number_in(const char *path) {
    unsigned long long number = 0;
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &number) != 1) refuse(path);
    fclose(file);
    return number;
}

static void describe(struct counter *counter, char *word) {
    char *what = strchr(word, '=');
    if (!what) exit(2);
    *what++ = 0;
    counter->name = word;
    struct perf_event_attr *attributes = &counter->attributes;
    attributes->size = sizeof *attributes;
    // Threads that begin later are counted with the thread that makes them.
    attributes->inherit = 1;
    if (strcmp(what, "switch") == 0) {
        attributes->type = PERF_TYPE_SOFTWARE;
        attributes->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    } else if (strncmp(what, "call", 4) == 0) {
        attributes->type = PERF_TYPE_TRACEPOINT;
        attributes->config = number_in("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
        if (what[4] == ':') snprintf(counter->filter, sizeof counter->filter, "id == %s", what + 5);
    } else if (strncmp(what, "at:", 3) == 0) {
        char *file = strchr(what + 3, ':');
        if (!file) exit(2);
        attributes->type = (uint32_t)number_in("/sys/bus/event_source/devices/uprobe/type");
        attributes->uprobe_path = (uint64_t)(uintptr_t)(file + 1);
        attributes->probe_offset = strtoull(what + 3, NULL, 0);
    } else
        exit(2);
}

static void follow(pid_t thread) {
    if (thread_count == MOST_THREADS) exit(2);
    for (int i = 0; i < counter_count; i++) {
        struct counter *counter = &counters[i];
        int opened = (int)syscall(SYS_perf_event_open, &counter->attributes, thread, -1, -1,
                                  PERF_FLAG_FD_CLOEXEC);
        if (opened < 0) refuse(counter->name);
        if (counter->filter[0] && ioctl(opened, PERF_EVENT_IOC_SET_FILTER, counter->filter) < 0)
            refuse(counter->filter);
        counter->threads[thread_count] = opened;
    }
    thread_count++;
}

static uint64_t sum(const struct counter *counter) {
    uint64_t sum = 0;
    for (int i = 0; i < thread_count; i++) {
        uint64_t count = 0;
        if (read(counter->threads[i], &count, sizeof count) != sizeof count) refuse("read");
        sum += count;
    }
    return sum;
}

int main(int count, char **words) {
    if (count < 3 || count - 2 > MOST_COUNTERS) return 2;
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    counter_count = count - 2;
    for (int i = 0; i < counter_count; i++)
        describe(&counters[i], words[i + 2]);
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/task", words[1]);
    DIR *folder = opendir(path);
    if (!folder) return 2;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') follow(atoi(entry->d_name));
    closedir(folder);
    puts("ready");
    fflush(stdout);
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0; i < counter_count; i++) {
            uint64_t now = sum(&counters[i]);
            printf("%s\"%s\": %llu", i ? ", " : "{", counters[i].name,
                   (unsigned long long)(now - counters[i].told));
            counters[i].told = now;
        }
        puts("}");
        fflush(stdout);
    }
    return 0;
}
