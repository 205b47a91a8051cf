// SPDX-License-Identifier: Apache-2.0
#ifndef KC_TRUSTED_SOCKET_H
#define KC_TRUSTED_SOCKET_H

#include <stdbool.h>

// Which of the daemon's sockets.
enum kc_door {
    // At the configured path; root's alone.
    KC_DOOR_LOGIN,
    // offer.sock beside it, for hosts that are not root, such as swaylock. There the daemon takes
    // the verb "offer password" only, and from each peer for its own uid only.
    KC_DOOR_OFFER,
};

// An O_PATH descriptor of the daemon's socket, or -1 with errno. Every folder on the way belongs to
// root and no other user can write to it; no link is followed; what is found is a socket of root's,
// and root alone can reach the login socket.
int kc_trusted_socket(const char *path, enum kc_door door);

#endif
