// SPDX-License-Identifier: Apache-2.0
#ifndef KC_RUNS_H
#define KC_RUNS_H

#include "installation.h"

// The most questions at a time: of all users, and of one.
enum { KC_MOST_QUESTIONS = 256, KC_MOST_OF_USER = 16 };

// Serves the listening socket until that fails. One thread with one table serves all: each
// connection is a question, and each question is one keychain-auth.
void kc_serve(int listener, const struct kc_installation *installation);

#endif
