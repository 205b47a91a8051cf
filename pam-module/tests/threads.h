// SPDX-License-Identifier: Apache-2.0
#ifndef KC_THREADS_H
#define KC_THREADS_H

// Logs the user in on that many threads at once, each with a PAM handle, a password ("thread N")
// and a table of descriptors of its own. Returns how many found everything as it should be.
int run_threads(const char *service, const char *user, int count);

#endif
