// SPDX-License-Identifier: Apache-2.0
// commit FOLDER COUNT: one synced SQLite commit of an item's bytes, in a table without an index:
// what no durable store can beat.
#define _GNU_SOURCE
#include "anchor.h"

#include <sqlite3.h>

// An item's row as the daemon writes it: identifier, index, attributes and secret.
enum { ROW_BYTES = 500 };

int main(int count, char **words) {
    if (count != 3) return 2;
    char path[4200];
    sqlite3 *database;
    sqlite3_stmt *insert;
    snprintf(path, sizeof path, "%s/commit.%d.sqlite", words[1], getpid());
    int commits = atoi(words[2]);
    double *times = malloc(sizeof *times * (size_t)commits);
    check(times != NULL, "malloc");
    if (sqlite3_open(path, &database) ||
        sqlite3_exec(
            database,
            "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE item (id INTEGER PRIMARY KEY, bytes BLOB)",
            NULL, NULL, NULL) ||
        sqlite3_prepare_v2(database, "INSERT INTO item (bytes) VALUES (randomblob(?))", -1, &insert,
                           NULL))
        return 1;
    sqlite3_bind_int(insert, 1, ROW_BYTES);
    for (int i = -5; i < commits; i++) {
        double began = microseconds();
        if (sqlite3_step(insert) != SQLITE_DONE) return 1;
        sqlite3_reset(insert);
        if (i >= 0) times[i] = microseconds() - began;
    }
    report("synced commit", times, commits);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    unlink(path);
    return 0;
}
