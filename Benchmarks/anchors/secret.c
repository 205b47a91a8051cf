// SPDX-License-Identifier: Apache-2.0
// secret look COUNT ITEMS | add COUNT | crowd PROGRAMS SECONDS ITEMS: the Secret Service as a
// program finds it on its bus, by libsecret. Item i is the one that keyring.py writes.
#define _GNU_SOURCE
#include "anchor.h"

#include <libsecret/secret.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const SecretSchema schema = {.name = "org.bench.Item",
                                    .flags = SECRET_SCHEMA_NONE,
                                    .attributes = {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
                                                   {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
                                                   {NULL, 0}}};

static void told(GError *error) {
    if (!error) return;
    fprintf(stderr, "secret: %s\n", error->message);
    exit(1);
}

static void look(int item) {
    char account[32], service[32];
    GError *error = NULL;
    snprintf(account, sizeof account, "user-%d@example.com", item);
    snprintf(service, sizeof service, "svc-%d", item % 100);
    char *secret = secret_password_lookup_sync(&schema, NULL, &error, "service", service, "account",
                                               account, NULL);
    told(error);
    if (!secret || strlen(secret) != 24) exit(1);
    secret_password_free(secret);
}

static void add(int item) {
    char account[32];
    GError *error = NULL;
    snprintf(account, sizeof account, "new-%d", item);
    secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, account,
                               "a secret of 24 bytes ...", NULL, &error, "service", "added",
                               "account", account, NULL);
    told(error);
}

static void crowd(int programs, double seconds, int items) {
    struct {
        volatile int ready, begun;
        long counts[64];
    } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(shared != MAP_FAILED && programs <= 64, "mmap");
    for (int i = 0; i < programs; i++) {
        if (fork() != 0) continue;
        look(i % items);
        __sync_fetch_and_add(&shared->ready, 1);
        while (!shared->begun)
            usleep(200);
        for (double end = microseconds() + seconds * 1e6; microseconds() < end;)
            look((int)(shared->counts[i]++ * 7919 + i) % items);
        _exit(0);
    }
    while (shared->ready < programs)
        usleep(500);
    shared->begun = 1;
    long count = 0;
    for (int i = 0; i < programs; i++)
        wait(NULL);
    for (int i = 0; i < programs; i++)
        count += shared->counts[i];
    printf("{\"name\": \"crowd\", \"programs\": %d, \"a_second\": %.0f}\n", programs,
           (double)count / seconds);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    int number = atoi(words[2]);
    if (strcmp(words[1], "crowd") == 0 && count == 5) {
        crowd(number, atof(words[3]), atoi(words[4]));
        return 0;
    }
    double *times = malloc(sizeof *times * (size_t)number);
    check(times != NULL, "malloc");
    int looks = strcmp(words[1], "look") == 0;
    for (int i = looks ? -10 : -1; i < number; i++) {
        double began = microseconds();
        if (looks)
            look(abs(i) * 7919 % atoi(words[3]));
        else
            add(i);
        if (i >= 0) times[i] = microseconds() - began;
    }
    report(words[1], times, number);
    free(times);
    return 0;
}
