// SPDX-License-Identifier: Apache-2.0
// roundtrip CORES COUNT: what the kernel takes for one exchange of a read's size between two
// processes, both on core 0 or each on a core of its own. No daemon can be faster.
#define _GNU_SOURCE
#include "anchor.h"

#include <signal.h>
#include <sys/wait.h>

static void serve(int socket) {
    char buffer[4096], answer[ANSWER_BYTES] = {2};
    struct ucred sender;
    while (receive_request(socket, buffer, sizeof buffer, &sender) > 0)
        if (send(socket, answer, sizeof answer, MSG_NOSIGNAL) != ANSWER_BYTES) return;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int ends[2], cores = atoi(words[1]);
    connect_pair(ends);
    pid_t server = fork();
    check(server >= 0, "fork");
    pin(server == 0 ? cores - 1 : 0);
    if (server == 0) {
        close(ends[0]);
        serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    ask(ends[0], "round trip", atoi(words[2]));
    close(ends[0]);
    waitpid(server, NULL, 0);
    return 0;
}
