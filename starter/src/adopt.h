// SPDX-License-Identifier: Apache-2.0
#ifndef KC_ADOPT_H
#define KC_ADOPT_H

#include "start_record.h"

// The most entries of a folder that is adopted.
enum { KC_MOST_ADOPTED = 4096 };

// Makes the user's folders the number's: `states`/USER and `runtime`/users/USER, which are made
// where they are missing. Each must be root's or the number's. So must a regular file in it to
// become the number's; others' files, and what is no file, are left as they are. Both folders that
// are given are root's alone. Returns why it was not done, or 0; done again, it changes nothing.
enum kc_start_word kc_adopt(int states, int runtime, uint32_t user, uint32_t number);

#endif
