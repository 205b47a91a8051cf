// SPDX-License-Identifier: Apache-2.0
#ifndef KC_PEER_H
#define KC_PEER_H

#include <stdbool.h>

// Whether root connected, in this program's mount namespace, by a process that runs the program.
// What it ran when its file was replaced, in an upgrade, counts by its path.
bool kc_peer_runs(int connection, const char *program);

#endif
