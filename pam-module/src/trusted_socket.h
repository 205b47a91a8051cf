// SPDX-License-Identifier: Apache-2.0
#ifndef KC_TRUSTED_SOCKET_H
#define KC_TRUSTED_SOCKET_H

#include <stdbool.h>

// The daemon's sockets.
enum kc_door {
    // The socket at the configured path; root's alone.
    KC_DOOR_LOGIN,
    // offer.sock beside it, for hosts that don't run as root, such as swaylock. There the daemon
    // takes only the verb "offer password", and from each peer only for the peer's own uid.
    KC_DOOR_OFFER,
};

// Returns an O_PATH descriptor of the daemon's socket, or -1 with errno. Every folder on the way
// must be root's, with no other user able to write to it; links are not followed; the socket must
// be root's, and the login socket must be reachable for root alone.
int kc_trusted_socket(const char *path, enum kc_door door);

#endif
