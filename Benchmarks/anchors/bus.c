// SPDX-License-Identifier: Apache-2.0
// The Secret Service as a plain sd-bus program calls it, and an echo that answers the same calls
// with messages of the same size and does nothing.
//   bus echo                   serves as org.bench.Echo until it is ended
//   bus floor                  the same as org.bench.Floor, which asks a server in C before each
//                              answer: that of `floor`, in a process of its own
//   bus floor FOLDER           the same for CreateItem, with that of `adds`
//   bus read NAME COUNT ITEMS  SearchItems and GetSecret of one item, of those that `fill` makes
//   bus first NAME COUNT       SearchItems as the first call of a new connection
//   bus add NAME COUNT         CreateItem
//   bus fill NAME COUNT        the same, untimed: item i is the one that keyring.py writes
//   bus session NAME COUNT     OpenSession with a key exchange
//   bus lock NAME 1            Lock of the login collection
#define _GNU_SOURCE
#include "add.h"

#include <errno.h>
#include <systemd/sd-bus.h>

#define ROOT "/org/freedesktop/secrets"
#define LOGIN ROOT "/collection/login"
#define ONE LOGIN "/00112233445566778899aabbccddeeff"
#define SERVICE "org.freedesktop.Secret.Service"
#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
static const char SECRET[] = "a secret of 24 bytes ...";
enum { SECRET_BYTES = 24, KEY_BYTES = 128 };

static sd_bus *bus;
static const char *name;
// Of the server in C, where there is one.
static int server = -1;

static void told(int result, const char *what) {
    if (result >= 0) return;
    errno = -result;
    fail(what);
}

static sd_bus_message *make(const char *path, const char *interface, const char *member) {
    sd_bus_message *call;
    told(sd_bus_message_new_method_call(bus, &call, name, path, interface, member), member);
    return call;
}

static sd_bus_message *answer(sd_bus_message *call, const char *what) {
    sd_bus_message *reply;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int result = sd_bus_call(bus, call, 0, &error, &reply);
    if (result < 0) {
        fprintf(stderr, "bus: %s: %s\n", what, error.message ? error.message : strerror(-result));
        exit(1);
    }
    sd_bus_message_unref(call);
    return reply;
}

static void append_pairs(sd_bus_message *call, int item) {
    char account[32], service[32];
    snprintf(account, sizeof account, "user-%d@example.com", item);
    snprintf(service, sizeof service, "svc-%d", item % 100);
    told(sd_bus_message_append(call, "a{ss}", 3, "account", account, "service", service,
                               "xdg:schema", "org.bench.Item"),
         "append");
}

static void append_secret(sd_bus_message *message, const char *session) {
    told(sd_bus_message_open_container(message, 'r', "oayays"), "append");
    told(sd_bus_message_append(message, "o", session), "append");
    told(sd_bus_message_append_array(message, 'y', NULL, 0), "append");
    told(sd_bus_message_append_array(message, 'y', SECRET, SECRET_BYTES), "append");
    told(sd_bus_message_append(message, "s", "text/plain"), "append");
    told(sd_bus_message_close_container(message), "append");
}

static char *plain_session(void) {
    sd_bus_message *call = make(ROOT, SERVICE, "OpenSession");
    const char *path;
    told(sd_bus_message_append(call, "sv", "plain", "s", ""), "append");
    sd_bus_message *reply = answer(call, "OpenSession");
    told(sd_bus_message_skip(reply, "v"), "read");
    told(sd_bus_message_read(reply, "o", &path), "read");
    char *copy = strdup(path);
    sd_bus_message_unref(reply);
    return copy;
}

// The first path of those that are unlocked; the caller frees it.
static char *search(int item) {
    sd_bus_message *call = make(ROOT, SERVICE, "SearchItems");
    const char *path = NULL;
    append_pairs(call, item);
    sd_bus_message *reply = answer(call, "SearchItems");
    told(sd_bus_message_enter_container(reply, 'a', "o"), "read");
    if (sd_bus_message_read(reply, "o", &path) <= 0) {
        fprintf(stderr, "bus: item %d was not found\n", item);
        exit(1);
    }
    char *copy = strdup(path);
    sd_bus_message_unref(reply);
    return copy;
}

static void read_one(int item, const char *session) {
    char *path = search(item);
    sd_bus_message *call = make(path, ITEM, "GetSecret");
    const void *bytes;
    size_t size;
    told(sd_bus_message_append(call, "o", session), "append");
    sd_bus_message *reply = answer(call, "GetSecret");
    told(sd_bus_message_enter_container(reply, 'r', "oayays"), "read");
    told(sd_bus_message_skip(reply, "oay"), "read");
    told(sd_bus_message_read_array(reply, 'y', &bytes, &size), "read");
    if (size != SECRET_BYTES) exit(1);
    sd_bus_message_unref(reply);
    free(path);
}

static void create(int item, const char *session) {
    char label[32];
    snprintf(label, sizeof label, "Item %d", item);
    sd_bus_message *call = make(LOGIN, COLLECTION, "CreateItem");
    told(sd_bus_message_open_container(call, 'a', "{sv}"), "append");
    told(sd_bus_message_append(call, "{sv}", ITEM ".Label", "s", label), "append");
    told(sd_bus_message_open_container(call, 'e', "sv"), "append");
    told(sd_bus_message_append(call, "s", ITEM ".Attributes"), "append");
    told(sd_bus_message_open_container(call, 'v', "a{ss}"), "append");
    append_pairs(call, item);
    told(sd_bus_message_close_container(call), "append");
    told(sd_bus_message_close_container(call), "append");
    told(sd_bus_message_close_container(call), "append");
    append_secret(call, session);
    told(sd_bus_message_append(call, "b", 0), "append");
    sd_bus_message_unref(answer(call, "CreateItem"));
}

static void exchange(int number) {
    unsigned char key[KEY_BYTES];
    // Below the prime, whose first bits are set, and another one each time.
    for (int i = 0; i < KEY_BYTES; i++)
        key[i] = (unsigned char)(i * 131 + number * 7 + 1) & 0x7f;
    sd_bus_message *call = make(ROOT, SERVICE, "OpenSession");
    told(sd_bus_message_append(call, "s", "dh-ietf1024-sha256-aes128-cbc-pkcs7"), "append");
    told(sd_bus_message_open_container(call, 'v', "ay"), "append");
    told(sd_bus_message_append_array(call, 'y', key, sizeof key), "append");
    told(sd_bus_message_close_container(call), "append");
    const char *path;
    sd_bus_message *reply = answer(call, "OpenSession");
    told(sd_bus_message_skip(reply, "v"), "read");
    told(sd_bus_message_read(reply, "o", &path), "read");
    // A program may have 64.
    char *session = strdup(path);
    sd_bus_message_unref(reply);
    sd_bus_message_unref(answer(make(session, "org.freedesktop.Secret.Session", "Close"), "Close"));
    free(session);
}

static void lock(void) {
    sd_bus_message *call = make(ROOT, SERVICE, "Lock");
    told(sd_bus_message_append(call, "ao", 1, LOGIN), "append");
    sd_bus_message_unref(answer(call, "Lock"));
}

static int echo(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data;
    (void)error;
    sd_bus_message *reply;
    const char *member = sd_bus_message_get_member(call);
    if (server >= 0) ask_once(server);
    told(sd_bus_message_new_method_return(call, &reply), "reply");
    if (strcmp(member, "SearchItems") == 0) {
        told(sd_bus_message_append(reply, "aoao", 1, ONE, 0), "append");
    } else if (strcmp(member, "GetSecret") == 0) {
        append_secret(reply, ONE);
    } else if (strcmp(member, "CreateItem") == 0) {
        told(sd_bus_message_append(reply, "oo", ONE, "/"), "append");
    } else if (strcmp(member, "OpenSession") == 0) {
        told(sd_bus_message_append(reply, "vo", "s", "", ROOT "/session/1"), "append");
    } else {
        return 0;
    }
    told(sd_bus_send(NULL, reply, NULL), "send");
    sd_bus_message_unref(reply);
    return 1;
}

static void serve_bus(const char *own) {
    told(sd_bus_add_fallback(bus, NULL, ROOT, echo, NULL), "serve");
    told(sd_bus_request_name(bus, own, 0), "name");
    for (;;) {
        int done = sd_bus_process(bus, NULL);
        told(done, "process");
        if (done == 0) told(sd_bus_wait(bus, UINT64_MAX), "wait");
    }
}

// Ends with this process: nothing is asked any more then. With a folder it adds, else it reads.
static void start_server(const char *folder) {
    int ends[2];
    if (sodium_init() < 0) exit(1);
    connect_pair(ends);
    pid_t client = getpid(), child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        close(ends[0]);
        if (folder)
            prepare_to_write(folder);
        else
            prepare("/dev/shm", 1);
        meet(client);
        if (folder)
            serve_adds(ends + 1, 1);
        else
            serve(ends[1]);
        exit(0);
    }
    close(ends[1]);
    server = ends[0];
}

int main(int count, char **words) {
    if (count >= 2 && strcmp(words[1], "floor") == 0) start_server(count > 2 ? words[2] : NULL);
    told(sd_bus_open_user(&bus), "bus");
    if (count == 2 && strcmp(words[1], "echo") == 0) serve_bus("org.bench.Echo");
    if (server >= 0) serve_bus("org.bench.Floor");
    if (count < 4) return 2;
    const char *what = words[1];
    name = words[2];
    int number = atoi(words[3]), items = count > 4 ? atoi(words[4]) : 1;
    int reads = strcmp(what, "read") == 0, fills = strcmp(what, "fill") == 0;
    double *times = calloc((size_t)number + 1, sizeof *times);
    check(times != NULL, "calloc");
    char *session = strcmp(what, "lock") == 0 ? NULL : plain_session();
    for (int i = reads ? -20 : 0; i < number; i++) {
        if (strcmp(what, "first") == 0) {
            sd_bus_close(bus);
            sd_bus_unref(bus);
            told(sd_bus_open_user(&bus), "bus");
            // The bus has told the connection its name before the call is timed.
            const char *own;
            told(sd_bus_get_unique_name(bus, &own), "bus");
        }
        double began = microseconds();
        if (reads)
            read_one(abs(i) * 7919 % items, session);
        else if (strcmp(what, "first") == 0)
            free(search(i % items));
        else if (fills)
            create(i, session);
        else if (strcmp(what, "add") == 0)
            create((int)getpid() * 1000 + i, session);
        else if (strcmp(what, "session") == 0)
            exchange(i);
        else if (strcmp(what, "lock") == 0)
            lock();
        if (i >= 0) times[i] = microseconds() - began;
    }
    if (!fills) report(what, times, number);
    return 0;
}
