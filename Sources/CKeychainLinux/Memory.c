// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>

void kc_bound_memory(void) {
    mallopt(M_ARENA_MAX, 2);
    // Large blocks are always mappings of their own: by default the threshold rises when larger
    // ones are freed.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}

static const int all_seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

int kc_memory_make(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int kc_memory_seal(int memory) { return fcntl(memory, F_ADD_SEALS, all_seals); }

int kc_memory_is_sealed(int memory) {
    // F_GET_SEALS gives -1, which has every bit, for any other file.
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & all_seals) == all_seals;
}
