// SPDX-License-Identifier: Apache-2.0
// commit FOLDER COUNT: one synced SQLite commit of an item's bytes, in a table without an index:
// what no durable store can beat.
// commit rows FOLDER COUNT: the same of the rows that an add writes, in a keychain's tables with as
// many items as are measured before: what a keychain's file costs by itself.
#define _GNU_SOURCE
#include "anchor.h"

#include <sqlite3.h>

// An item's row as the daemon writes it: identifier, index, attributes and secret.
enum { ROW_BYTES = 500, TOKENS = 6 };

static sqlite3 *database;

static void run(const char *words) {
    if (sqlite3_exec(database, words, NULL, NULL, NULL) == SQLITE_OK) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    exit(1);
}

static sqlite3_stmt *prepared(const char *words) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, words, -1, &statement, NULL)) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(database));
        exit(1);
    }
    return statement;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) exit(1);
    sqlite3_reset(statement);
}

static void bytes(int count, int commits) {
    run("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE item (id INTEGER PRIMARY KEY, bytes BLOB)");
    sqlite3_stmt *insert = prepared("INSERT INTO item (bytes) VALUES (randomblob(?))");
    double *times = malloc(sizeof *times * (size_t)commits);
    check(times != NULL, "malloc");
    sqlite3_bind_int(insert, 1, count);
    for (int i = -5; i < commits; i++) {
        double began = microseconds();
        step(insert);
        if (i >= 0) times[i] = microseconds() - began;
    }
    report("synced commit", times, commits);
    sqlite3_finalize(insert);
}

static void rows(int commits) {
    run(KEYCHAIN_TABLES "PRAGMA synchronous = FULL");
    sqlite3_stmt *item =
        prepared("INSERT INTO item VALUES (NULL, randomblob(16), 1, 1, 1,"
                 " randomblob(16), randomblob(48), randomblob(300), randomblob(120))");
    sqlite3_stmt *token = prepared("INSERT INTO token VALUES (random(), last_insert_rowid())");
    double *times = malloc(sizeof *times * (size_t)commits);
    check(times != NULL, "malloc");
    for (int i = -commits; i < commits; i++) {
        double began = microseconds();
        run("BEGIN IMMEDIATE");
        step(item);
        for (int number = 0; number < TOKENS; number++)
            step(token);
        run("COMMIT");
        if (i >= 0) times[i] = microseconds() - began;
    }
    report("synced rows", times, commits);
    sqlite3_finalize(item);
    sqlite3_finalize(token);
}

int main(int count, char **words) {
    int all = count == 4 && strcmp(words[1], "rows") == 0;
    if (count != 3 && !all) return 2;
    char path[4200];
    snprintf(path, sizeof path, "%s/commit.%d.sqlite", words[count - 2], getpid());
    if (sqlite3_open(path, &database)) return 1;
    if (all)
        rows(atoi(words[3]));
    else
        bytes(ROW_BYTES, atoi(words[2]));
    sqlite3_close(database);
    unlink(path);
    return 0;
}
