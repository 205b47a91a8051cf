// SPDX-License-Identifier: Apache-2.0
// adds CLIENTS SECONDS FOLDER: adds of an item by so many programs at once, each waiting for its
// answer before the next.
#define _GNU_SOURCE
#include "add.h"

#include <sys/wait.h>

enum { MOST_ADDS = 200000 };

static void ask_until(int socket, double end, int told) {
    double *times = malloc(sizeof *times * MOST_ADDS), now = microseconds();
    check(times != NULL, "malloc");
    int count = 0;
    for (; now < end && count < MOST_ADDS; count++) {
        ask_once(socket);
        double then = microseconds();
        times[count] = then - now;
        now = then;
    }
    qsort(times, (size_t)count, sizeof *times, before);
    double all[2] = {count, count ? times[count / 2] : 0};
    check(write(told, all, sizeof all) == sizeof all, "write");
}

int main(int count, char **words) {
    if (count != 4 || sodium_init() < 0) return 2;
    int clients = atoi(words[1]), sockets[MOST_CLIENTS], told[2];
    if (clients < 1 || clients > MOST_CLIENTS) return 2;
    double seconds = atof(words[2]), adds = 0, middle = 0;
    check(pipe(told) == 0, "pipe");
    prepare_to_write(words[3]);
    meet(getpid());
    double end = microseconds() + seconds * 1e6;
    for (int i = 0; i < clients; i++) {
        int ends[2];
        connect_pair(ends);
        pid_t client = fork();
        check(client >= 0, "fork");
        if (client == 0) {
            for (int other = 0; other < i; other++)
                close(sockets[other]);
            close(ends[1]);
            ask_until(ends[0], end, told[1]);
            _exit(0);
        }
        close(ends[0]);
        sockets[i] = ends[1];
    }
    serve_adds(sockets, clients);
    for (int i = 0; i < clients; i++) {
        double one[2];
        check(read(told[0], one, sizeof one) == sizeof one, "read");
        adds += one[0];
        middle = one[1];
    }
    while (wait(NULL) > 0) {
    }
    printf("{\"name\": \"adds\", \"programs\": %d, \"a_second\": %.1f, \"p50_us\": %.3f}\n",
           clients, adds / seconds, middle);
    return 0;
}
