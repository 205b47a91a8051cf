// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <stdio.h>
#include <string.h>

static const struct kc_program programs[] = {
    [KC_START_AUTHENTICATION] = {.name = "keychain-auth",
                                 .takes = {{KC_CONVERSATION, 3}},
                                 .descriptors = 1,
                                 .seconds = 100,
                                 .most = 256,
                                 .most_of_user = 16,
                                 .keeps_rights = true},
    // Each may take 256 MiB.
    [KC_START_IMPORT] = {.name = "keychain-import",
                         .takes = {{KC_FILE_TO_READ, 0}, {KC_PIPE_TO_WRITE, 1}},
                         .descriptors = 2,
                         .seconds = 60,
                         .most = 32,
                         .most_of_user = 4,
                         .is_without_backtrace = true},
    // keychaind loads policies one after the other; one that it gave up may not have ended yet.
    [KC_START_POLICY] = {.name = "keychainctl-policy",
                         .takes = {{KC_PIPE_TO_WRITE, 3}},
                         .descriptors = 1,
                         .seconds = 120,
                         .most = 4,
                         .most_of_user = 4},
    // The same holds of the TPM, which is asked in turns: one of the user's may not have ended yet.
    // A TPM serves one request after the other, so more of one user's would keep others' waiting.
    [KC_START_TPM] = {.name = "keychain-tpm",
                      .takes = {{KC_CONVERSATION, 3}},
                      .descriptors = 1,
                      .seconds = 75,
                      .most = 24,
                      .most_of_user = 2},
    [KC_START_SECURITY_KEY] = {.name = "keychain-fido",
                               .takes = {{KC_CONVERSATION, 3}},
                               .descriptors = 1,
                               .seconds = 105,
                               .most = 64,
                               .most_of_user = 16},
};
_Static_assert(256 + 32 + 4 + 24 + 64 == KC_MOST_RUNS, "every program has room");

const struct kc_program *kc_program_for(enum kc_start_program program) {
    bool is_known = program >= KC_START_AUTHENTICATION && program <= KC_START_SECURITY_KEY;
    return is_known ? &programs[program] : NULL;
}

uint32_t kc_program_seconds(const struct kc_start_request *request) {
    return programs[request->program].seconds + 2 * request->seconds;
}

// ---- Arguments ---------------------------------------------------------------------------------

static void add(struct kc_arguments *arguments, const char *word) {
    if (arguments->count < KC_MOST_ARGUMENTS) arguments->list[arguments->count++] = word;
}

static void add_folders(struct kc_arguments *arguments, const struct kc_start_request *request) {
    for (const char *folder = kc_start_next_folder(request, NULL); folder != NULL;
         folder = kc_start_next_folder(request, folder)) {
        add(arguments, "--policies");
        add(arguments, folder);
    }
}

static void add_registers(struct kc_arguments *arguments, uint32_t registers) {
    for (unsigned number = 0; number < KC_START_REGISTERS; number++) {
        if ((registers >> number & 1) == 0) continue;
        (void)snprintf(arguments->numbers[number], sizeof arguments->numbers[number], "%u", number);
        add(arguments, arguments->numbers[number]);
    }
}

void kc_arguments_make(struct kc_arguments *arguments, const char *path,
                       const struct kc_start_request *request) {
    memset(arguments, 0, sizeof *arguments);
    add(arguments, path);
    switch (request->program) {
    case KC_START_AUTHENTICATION:
        (void)snprintf(arguments->user, sizeof arguments->user, "%u", request->user);
        add(arguments, request->service);
        add(arguments, arguments->user);
        add(arguments, request->account);
        if (request->asker[0] != '\0') add(arguments, request->asker);
        break;
    case KC_START_IMPORT:
        (void)snprintf(arguments->seconds, sizeof arguments->seconds, "%u", request->seconds);
        add(arguments, arguments->seconds);
        break;
    case KC_START_POLICY:
        add(arguments, "policy");
        add(arguments, "compile");
        add_folders(arguments, request);
        break;
    case KC_START_TPM:
        add(arguments, request->task == KC_START_MAKE ? "seal" : "open");
        add_registers(arguments, request->registers);
        break;
    case KC_START_SECURITY_KEY:
        add(arguments, request->task == KC_START_MAKE ? "make" : "open");
        break;
    // No programs.
    case KC_START_BIND:
    case KC_START_ADOPT:
    case KC_START_END: break;
    }
}
