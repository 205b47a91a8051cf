// SPDX-License-Identifier: Apache-2.0
// The server of a read of a secret, as C does it that has no code of ours.
//
// Each step is one that a trace of the daemon's read shows (strace -f for the system calls, gdb at
// the library's functions for SQLite, the openings and the hashes, with their sizes), made once:
//
//   strace  poll, recvmsg             the request, with its sender's credentials
//   strace  poll (a pidfd)            the login's leader lives
//   strace  KEYCTL_DESCRIBE           the login's ticket is there
//   strace  lstat                     the keychain's file is there
//   strace  KEYCTL_READ 136, 136      the keys of after the first unlock, and of always
//   strace  KEYCTL_READ 154, 32       the keys of while unlocked, and the ticket that opens them
//   gdb     3 openings, 3 hashes      of these: 112, 112 and 113 bytes; 7, 7 and 32
//   gdb     2 hashes                  the index entries that the item may be under: 65 bytes each
//   strace  fcntl, fcntl              SQLite's snapshot
//   gdb     3 selects                 the two entries, and the item's row
//   gdb     2 openings, 1 hash        the item's own key, and its attributes: 48 and 108; 10
//   gdb     2 openings, 1 hash        the secret's own key, and the secret: 48 and 48; 6
//   gdb     2 hashes                  without a key, between these: 20 and 4 bytes
//   strace  poll (a pidfd)            the caller lives
//   strace  readlinkat, newfstatat    its executable is the same
//   strace  openat, read, close       its control group is the same; `kept`: one pread of a
//                                     descriptor that stays open
//   strace  sendmsg                   the answer, the secret in a part of its own
//
// The daemon of the trace asked twice for the leader and the ticket, and prepared and stepped
// BEGIN, COMMIT and PRAGMA schema_version: here each fact is asked for once.
#ifndef FLOOR_H
#define FLOOR_H

#include "anchor.h"

#include <fcntl.h>
#include <keyutils.h>
#include <poll.h>
#include <sodium.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { ITEMS = 100, TOKENS = 6, KEY = 32, NONCE = 24, TAG = 16, MOST = 256 };

// What is opened in a read: sealed bytes, and bytes they are bound to.
static const struct {
    size_t sealed, bound;
} openings[] = {{112, 34}, {112, 40}, {113, 61}, {48, 43}, {108, 43}, {48, 75}, {48, 75}};
enum { OPENINGS = 7, OF_KEYS = 3 };

// What is hashed: bytes of the hash, of the message and of the key.
static const struct {
    size_t hash, message, key;
} hashes[] = {{32, 7, 32},  {32, 7, 32},  {32, 32, 32}, {32, 10, 32}, {32, 6, 32},
              {16, 65, 32}, {16, 65, 32}, {16, 20, 0},  {32, 4, 0}};
enum { HASHES = 9 };

static struct { unsigned char bytes[MOST], bound[MOST], nonce[NONCE], key[KEY]; } sealed[OPENINGS];

static struct {
    key_serial_t ticket, first, always, unlocked;
    int leader, peer, process, cgroup;
    char file[4096];
    sqlite3 *database;
    sqlite3_stmt *begin, *end, *entries, *row;
    int keeps;
} state;

static void run(const char *words) {
    if (sqlite3_exec(state.database, words, NULL, NULL, NULL) == SQLITE_OK) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(state.database));
    exit(1);
}

static sqlite3_stmt *prepared(const char *words) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(state.database, words, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
        exit(1);
    return statement;
}

static sqlite3_int64 token(int item, int number) {
    sqlite3_int64 token;
    int message[2] = {item, number};
    crypto_generichash((unsigned char *)&token, sizeof token, (unsigned char *)message,
                       sizeof message, NULL, 0);
    return token;
}

static void fill(void) {
    run(KEYCHAIN_TABLES);
    run("BEGIN");
    sqlite3_stmt *item =
        prepared("INSERT INTO item VALUES (?, randomblob(16), 1, 1, 1,"
                 " randomblob(16), randomblob(48), randomblob(300), randomblob(180))");
    sqlite3_stmt *entry = prepared("INSERT INTO token VALUES (?, ?)");
    for (int i = 1; i <= ITEMS; i++) {
        sqlite3_bind_int(item, 1, i);
        if (sqlite3_step(item) != SQLITE_DONE) exit(1);
        sqlite3_reset(item);
        for (int number = 0; number < TOKENS; number++) {
            sqlite3_bind_int64(entry, 1, token(i, number));
            sqlite3_bind_int(entry, 2, i);
            if (sqlite3_step(entry) != SQLITE_DONE) exit(1);
            sqlite3_reset(entry);
        }
    }
    sqlite3_finalize(item);
    sqlite3_finalize(entry);
    run("COMMIT");
}

static void seal(void) {
    for (int i = 0; i < OPENINGS; i++) {
        unsigned char clear[MOST] = {0};
        randombytes_buf(sealed[i].key, KEY);
        randombytes_buf(sealed[i].nonce, NONCE);
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            sealed[i].bytes, NULL, clear, openings[i].sealed - TAG, sealed[i].bound,
            openings[i].bound, NULL, sealed[i].nonce, sealed[i].key);
    }
}

static key_serial_t new_key(const char *name, size_t count) {
    unsigned char bytes[MOST] = {7};
    key_serial_t key = add_key("user", name, bytes, count, KEY_SPEC_PROCESS_KEYRING);
    check(key > 0, "add_key");
    return key;
}

static void remove_file(void) {
    char path[4200];
    const char *ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", state.file, ends[i]);
        unlink(path);
    }
}

static inline void prepare(const char *folder, int keeps) {
    state.keeps = keeps;
    seal();
    // A process of another run may have had this one's number, and left its file.
    snprintf(state.file, sizeof state.file, "%s/floor.%d.%08x.sqlite", folder, getpid(),
             randombytes_random());
    // Also where a look fails because the client was killed.
    atexit(remove_file);
    if (sqlite3_open(state.file, &state.database)) exit(1);
    fill();
    sqlite3_close(state.database);
    if (sqlite3_open_v2(state.file, &state.database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL))
        exit(1);
    run("PRAGMA cache_size = -512; PRAGMA mmap_size = 0; PRAGMA query_only = 1");
    state.begin = prepared("BEGIN");
    state.end = prepared("COMMIT");
    state.entries = prepared("SELECT item FROM token WHERE token = ? ORDER BY item LIMIT 64");
    state.row = prepared("SELECT id, identifier, class, accessible, generation, attributes, secret"
                         " FROM item WHERE id = ?");
}

static void meet(pid_t client) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", client);
    state.process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    check(state.process >= 0, path);
    state.cgroup = openat(state.process, "cgroup", O_RDONLY | O_CLOEXEC);
    state.peer = (int)syscall(SYS_pidfd_open, client, 0);
    state.leader = (int)syscall(SYS_pidfd_open, client, 0);
    check(state.cgroup >= 0 && state.peer >= 0 && state.leader >= 0, "pidfd_open");
    state.ticket = new_key("ticket", 32);
    state.first = new_key("first", 136);
    state.always = new_key("always", 136);
    state.unlocked = new_key("unlocked", 154);
}

static void lives(int process) {
    struct pollfd one = {.fd = process, .events = POLLIN};
    check(poll(&one, 1, 0) == 0, "the process is gone");
}

static void read_key(key_serial_t key) {
    char bytes[MOST];
    check(keyctl_read(key, bytes, sizeof bytes) > 0, "KEYCTL_READ");
}

static void open_sealed(int from, int until, unsigned char *clear) {
    for (int i = from; i < until; i++)
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(
                clear, NULL, NULL, sealed[i].bytes, openings[i].sealed, sealed[i].bound,
                openings[i].bound, sealed[i].nonce, sealed[i].key))
            exit(1);
}

static void hash(int from, int until) {
    static const unsigned char message[MOST], key[KEY];
    unsigned char made[KEY];
    for (int i = from; i < until; i++)
        crypto_generichash(made, hashes[i].hash, message, hashes[i].message, key, hashes[i].key);
}

static void look_up(int item) {
    if (sqlite3_step(state.begin) != SQLITE_DONE) exit(1);
    // In one family of keys it is not, in the other it is.
    sqlite3_bind_int64(state.entries, 1, token(item, TOKENS));
    if (sqlite3_step(state.entries) != SQLITE_DONE) exit(1);
    sqlite3_reset(state.entries);
    sqlite3_bind_int64(state.entries, 1, token(item, 0));
    if (sqlite3_step(state.entries) != SQLITE_ROW) exit(1);
    sqlite3_bind_int64(state.row, 1, sqlite3_column_int64(state.entries, 0));
    if (sqlite3_step(state.entries) != SQLITE_DONE || sqlite3_step(state.row) != SQLITE_ROW)
        exit(1);
    unsigned char bytes[1024];
    size_t count = (size_t)sqlite3_column_bytes(state.row, 5);
    memcpy(bytes, sqlite3_column_blob(state.row, 5), count);
    memcpy(bytes + count, sqlite3_column_blob(state.row, 6),
           (size_t)sqlite3_column_bytes(state.row, 6));
    sqlite3_reset(state.row);
    sqlite3_reset(state.entries);
    if (sqlite3_step(state.end) != SQLITE_DONE) exit(1);
    sqlite3_reset(state.begin);
    sqlite3_reset(state.end);
}

static void caller_again(void) {
    char executable[4096], group[4096];
    struct stat status;
    lives(state.peer);
    check(readlinkat(state.process, "exe", executable, sizeof executable) > 0, "exe");
    check(fstatat(state.process, "exe", &status, 0) == 0, "exe");
    if (state.keeps) {
        check(pread(state.cgroup, group, sizeof group, 0) > 0, "cgroup");
        return;
    }
    int file = openat(state.process, "cgroup", O_RDONLY | O_CLOEXEC);
    check(read(file, group, sizeof group) > 0, "cgroup");
    close(file);
}

static void keys(void) {
    char description[512];
    struct stat status;
    lives(state.leader);
    check(keyctl_describe(state.ticket, description, sizeof description) > 0, "KEYCTL_DESCRIBE");
    check(lstat(state.file, &status) == 0, state.file);
    read_key(state.first);
    read_key(state.always);
    read_key(state.unlocked);
    read_key(state.ticket);
}

static inline void serve(int socket) {
    char buffer[4096];
    unsigned char clear[MOST], head[ANSWER_BYTES - 24] = {2};
    struct ucred sender;
    for (int item = 0;; item++) {
        struct pollfd request = {.fd = socket, .events = POLLIN};
        poll(&request, 1, 900000);
        if (receive_request(socket, buffer, sizeof buffer, &sender) <= 0) return;
        keys();
        open_sealed(0, OF_KEYS, clear);
        hash(0, HASHES - 2);
        look_up(item * 7919 % ITEMS + 1);
        open_sealed(OF_KEYS, OPENINGS, clear);
        hash(HASHES - 2, HASHES);
        caller_again();
        struct iovec parts[] = {{head, sizeof head}, {clear, 24}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) != ANSWER_BYTES) return;
    }
}

#endif
