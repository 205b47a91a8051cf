// SPDX-License-Identifier: Apache-2.0
// What a program has changed and no fsync has made last: the changes of its files' contents, and of
// names in folders. Noted before each change, under the caller's lock.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

size_t unsynced_count(void);
// Of a change that failed after all: what was noted since.
void unsynced_forget(size_t count);

void unsynced_write(int file, off_t offset, size_t size);
void unsynced_length(int file, off_t length);
void unsynced_emptied(const char *path);
void unsynced_new_name(const char *path);
void unsynced_gone(const char *path);
void unsynced_renamed(const char *from, const char *to, bool exchanged);

// The contents of a file last from now on; the names in it, where it is a folder.
void unsynced_synced(int file);

// As the disk is found after a power cut: without all that was not synced; or, where there is a
// seed, with some of it: from a moment on no change of a name, and of the contents any part.
void unsynced_lose(unsigned long seed);
