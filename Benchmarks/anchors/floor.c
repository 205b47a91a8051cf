// SPDX-License-Identifier: Apache-2.0
// floor CORES COUNT FOLDER [kept]: one read of a secret as C does it that has no code of ours; the
// client and the server are pinned as in `roundtrip`; 0 pins neither.
// floor bare COUNT FOLDER: its look-ups and decryptions alone, in one process.
#define _GNU_SOURCE
#include "floor.h"

#include <sys/wait.h>

static void bare(int count) {
    unsigned char clear[MOST];
    double *times = malloc(sizeof *times * (size_t)count);
    check(times != NULL, "malloc");
    for (int i = -count / 10; i < count; i++) {
        double began = microseconds();
        hash(HASHES - 4, HASHES - 2);
        look_up(abs(i) * 7919 % ITEMS + 1);
        open_sealed(OF_KEYS, OPENINGS, clear);
        if (i >= 0) times[i] = microseconds() - began;
    }
    report("bare read", times, count);
    free(times);
}

int main(int count, char **words) {
    if (count < 4 || sodium_init() < 0) return 2;
    if (strcmp(words[1], "bare") == 0) {
        pin(0);
        prepare(words[3], 0);
        bare(atoi(words[2]));
        return 0;
    }
    int ends[2], cores = atoi(words[1]);
    connect_pair(ends);
    pid_t client = getpid(), server = fork();
    check(server >= 0, "fork");
    if (cores > 0) pin(server == 0 ? cores - 1 : 0);
    if (server == 0) {
        close(ends[0]);
        prepare(words[3], count > 4);
        meet(client);
        check(write(ends[1], "r", 1) == 1, "write");
        serve(ends[1]);
        exit(0);
    }
    close(ends[1]);
    char ready;
    check(read(ends[0], &ready, 1) == 1, "the server");
    ask(ends[0], count > 4 ? "floor, kept" : "floor", atoi(words[2]));
    close(ends[0]);
    waitpid(server, NULL, 0);
    return 0;
}
