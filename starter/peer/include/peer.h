// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PEER_H
#define KC_PEER_H

#include <stdbool.h>

// Whether the peer is a process of root's that runs the file at `installed`, whose folder is the
// same one to both. A process that still runs the program's former file after an upgrade counts by
// its path.
bool kc_peer_runs(int connection, const char *installed);

#endif
