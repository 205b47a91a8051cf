// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>

void kc_bound_memory(void) {
    mallopt(M_ARENA_MAX, 2);
    // Large pieces are mappings of their own, however large those were that were freed before.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}

static const int all_seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

int kc_memory_make(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int kc_memory_seal(int memory) { return fcntl(memory, F_ADD_SEALS, all_seals); }

int kc_memory_is_sealed(int memory) {
    // -1, which has every bit, for what is no file of memory.
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & all_seals) == all_seals;
}
