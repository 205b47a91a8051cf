// SPDX-License-Identifier: Apache-2.0
#include "locked.h"

#include <sodium.h>
#include <stddef.h>
#include <sys/mman.h>

// mmap instead of sodium_malloc: sodium_malloc needs sodium_init, which sets up state for the whole
// process, and it ends the host's process when it finds an overwritten byte.

void *kc_locked_new(size_t count) {
    void *memory = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    // sodium_mlock first keeps the pages out of core dumps, then locks them; only the locking can
    // be refused.
    (void)sodium_mlock(memory, count);
    return memory;
}

void kc_locked_free(void *memory, size_t count) {
    if (memory == NULL) return;
    sodium_memzero(memory, count);
    (void)sodium_munlock(memory, count);
    (void)munmap(memory, count);
}
