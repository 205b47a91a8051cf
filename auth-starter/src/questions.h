// SPDX-License-Identifier: Apache-2.0
#ifndef KC_QUESTIONS_H
#define KC_QUESTIONS_H

#include "installation.h"

// Questions that are open at a time: of all users, and of one.
enum { KC_MOST_QUESTIONS = 256, KC_MOST_OF_USER = 16 };

// Serves the listening socket until that fails. One thread and one table: a connection is a
// question, and a question is one keychain-auth.
void kc_serve(int listener, const struct kc_installation *installation);

#endif
