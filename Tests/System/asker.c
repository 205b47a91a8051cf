// SPDX-License-Identifier: Apache-2.0
// asker FRAME: sends the frame that the file holds, whose place for the connection's nonce is
// empty, and ends with 0 where an answer came.
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 24, NONCE = 16 };

int main(int count, char **words) {
    unsigned char hello[HELLO], frame[4096], answer[64];
    struct sockaddr_un place = {.sun_family = AF_UNIX, .sun_path = "/run/keychain/keychain.sock"};
    int file = count > 1 ? open(words[1], O_RDONLY) : -1;
    ssize_t length = read(file, frame, sizeof frame);
    int line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (length < HELLO + NONCE || connect(line, (void *)&place, sizeof place) != 0) {
        return 2;
    }
    for (size_t have = 0; have < sizeof hello;) {
        ssize_t got = read(line, hello + have, sizeof hello - have);
        if (got <= 0) {
            return 3;
        }
        have += (size_t)got;
    }
    memcpy(frame + HELLO, hello + HELLO - NONCE, NONCE);
    if (write(line, frame, (size_t)length) != length) {
        return 4;
    }
    return read(line, answer, sizeof answer) > 0 ? 0 : 5;
}
