// SPDX-License-Identifier: Apache-2.0
//
// For machines without libFuzzer: replay ROUNDS FOLDER runs each file of the folder, and then
// ROUNDS damaged ones, the same ones in every run.
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#define MOST_FILES 64
#define MOST_BYTES 8192

static struct {
    uint8_t bytes[MOST_BYTES];
    size_t count;
} files[MOST_FILES];

static size_t read_all(const char *folder) {
    struct dirent **names = NULL;
    size_t found = 0;
    // Sorted, so that all runs are alike.
    int count = scandir(folder, &names, NULL, alphasort);
    for (int index = 0; index < count; index++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[index]->d_name);
        FILE *file = names[index]->d_name[0] == '.' ? NULL : fopen(path, "rb");
        free(names[index]);
        if (file == NULL) continue;
        REQUIRE(found < MOST_FILES);
        files[found].count = fread(files[found].bytes, 1, MOST_BYTES, file);
        found++;
        fclose(file);
    }
    free(names);
    return found;
}

static uint32_t next(void) {
    static uint32_t state = 0x2545f491;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// Runs on memory of the exact length, so that the sanitizer sees reads past the end.
static void run(const uint8_t *bytes, size_t count) {
    uint8_t *copy = malloc(count > 0 ? count : 1);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes, count);
    (void)LLVMFuzzerTestOneInput(copy, count);
    free(copy);
}

// Runs a mix of two files: the beginning of one, the end of another, and some changed bytes.
static void run_damaged(size_t found) {
    static uint8_t bytes[2 * MOST_BYTES];
    size_t one = next() % found;
    size_t other = next() % found;
    size_t head = next() % (files[one].count + 1);
    size_t from = next() % (files[other].count + 1);
    size_t tail = next() % 4 == 0 ? files[other].count - from : 0;
    if (tail == 0 && next() % 2 == 0) head = files[one].count;
    memcpy(bytes, files[one].bytes, head);
    memcpy(bytes + head, files[other].bytes + from, tail);
    for (uint32_t changes = next() % 6; changes > 0 && head + tail > 0; changes--) {
        bytes[next() % (head + tail)] = (uint8_t)next();
    }
    run(bytes, head + tail);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t found = read_all(argv[2]);
    REQUIRE(found > 0);
    run(files[0].bytes, 0);
    for (size_t index = 0; index < found; index++)
        run(files[index].bytes, files[index].count);
    for (long round = atol(argv[1]); round > 0; round--)
        run_damaged(found);
    return 0;
}
