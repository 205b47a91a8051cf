// SPDX-License-Identifier: Apache-2.0
// The server of an add, as C does it that has no code of ours: on the disk when it is answered. It
// makes the system calls, decryptions and hashes of a read (floor.h), seals the item, writes the
// rows that an add writes in a keychain's tables, and commits once for all requests that wait.
#ifndef ADD_H
#define ADD_H

#include "floor.h"

enum { MOST_CLIENTS = 64 };

static sqlite3_stmt *item, *entry;

// As `prepare`, for a connection that writes as the daemon's does.
static void prepare_to_write(const char *folder) {
    seal();
    snprintf(state.file, sizeof state.file, "%s/adds.%d.%08x.sqlite", folder, getpid(),
             randombytes_random());
    atexit(remove_file);
    if (sqlite3_open_v2(state.file, &state.database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        exit(1);
    fill();
    run("PRAGMA synchronous = FULL");
    state.keeps = 1;
    state.begin = prepared("BEGIN IMMEDIATE");
    state.end = prepared("COMMIT");
    item = prepared("INSERT INTO item VALUES (NULL, randomblob(16), 1, 1, 1,"
                    " randomblob(16), randomblob(48), ?, ?)");
    entry = prepared("INSERT INTO token VALUES (random(), last_insert_rowid())");
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) exit(1);
    sqlite3_reset(statement);
}

static void add(void) {
    unsigned char clear[MOST] = {0}, attributes[300] = {0}, secret[120];
    keys();
    open_sealed(0, OF_KEYS, clear);
    hash(0, HASHES);
    // Both are sealed under keys of their own, which are sealed, too.
    for (int i = OF_KEYS; i < OPENINGS; i++)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            attributes, NULL, clear, openings[i].sealed - TAG, sealed[i].bound, openings[i].bound,
            NULL, sealed[i].nonce, sealed[i].key);
    memset(secret, 7, sizeof secret);
    caller_again();
    sqlite3_bind_blob(item, 1, attributes, sizeof attributes, SQLITE_STATIC);
    sqlite3_bind_blob(item, 2, secret, sizeof secret, SQLITE_STATIC);
    step(item);
    for (int number = 0; number < TOKENS; number++)
        step(entry);
}

// Until the last client has gone.
static void serve_adds(int *sockets, int count) {
    char buffer[4096], answer[ANSWER_BYTES] = {2};
    struct ucred sender;
    struct pollfd waiting[MOST_CLIENTS];
    for (int i = 0; i < count; i++)
        waiting[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    for (int left = count; left > 0;) {
        check(poll(waiting, (nfds_t)count, -1) > 0, "poll");
        int asking[MOST_CLIENTS], begun = 0;
        for (int i = 0; i < count; i++) {
            if (!waiting[i].revents) continue;
            if (receive_request(sockets[i], buffer, sizeof buffer, &sender) <= 0) {
                waiting[i].fd = -1;
                left--;
                continue;
            }
            if (!begun) step(state.begin);
            add();
            asking[begun++] = sockets[i];
        }
        if (!begun) continue;
        step(state.end);
        for (int i = 0; i < begun; i++)
            check(send(asking[i], answer, sizeof answer, MSG_NOSIGNAL) == ANSWER_BYTES, "send");
    }
}

#endif
