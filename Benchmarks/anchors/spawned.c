// SPDX-License-Identifier: Apache-2.0
// spawned COUNT -- PROGRAM ARGUMENT… [-- PROGRAM ARGUMENT…]…: what each program costs as a whole
// process, from its start to its end: in turns, so that all meet the machine in the same mood. What
// they print is thrown away; all must succeed. A line of JSON for each.
#define _GNU_SOURCE
#include "anchor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

enum { MOST = 16 };

int main(int count, char **words) {
    if (count < 4) return 2;
    char **programs[MOST];
    double *times[MOST];
    long faults[MOST];
    int many = 0, runs = atoi(words[1]);
    for (int i = 2; i < count && many < MOST; i++) {
        if (strcmp(words[i], "--") != 0) continue;
        words[i] = NULL;
        programs[many] = &words[i + 1];
        times[many++] = malloc(sizeof(double) * (size_t)runs);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    for (int run = -2; run < runs; run++)
        for (int i = 0; i < many; i++) {
            pid_t child;
            int status;
            struct rusage usage;
            double began = microseconds();
            check(posix_spawnp(&child, programs[i][0], &actions, NULL, programs[i], environ) == 0,
                  programs[i][0]);
            check(wait4(child, &status, 0, &usage) == child, "wait4");
            if (run >= 0) times[i][run] = microseconds() - began;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                fprintf(stderr, "%s ended with %d\n", programs[i][0], status);
                return 1;
            }
            faults[i] = usage.ru_minflt;
        }
    for (int i = 0; i < many; i++) {
        qsort(times[i], (size_t)runs, sizeof *times[i], before);
        printf("{\"name\": \"%s\", \"count\": %d, \"p10_us\": %.1f, \"p50_us\": %.1f, "
               "\"p90_us\": %.1f, \"faults\": %ld}\n",
               programs[i][0], runs, times[i][runs / 10], times[i][runs / 2],
               times[i][runs * 9 / 10], faults[i]);
    }
    return 0;
}
