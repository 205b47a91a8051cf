// SPDX-License-Identifier: Apache-2.0
//
// What keychaind, and workers on connections that it made, say to keychain-starter and hear from
// it.
//
//     request  magic u32 | version u16 | program u16 | user u32, then, by program:
//              authentication  service [48] | account [256] | asker [256]
//              import          seconds u32
//              policy          folders [4096]
//              TPM             task u32 | registers u32
//              security key    task u32
//              bind            nothing
//              adopt           number u32
//              end             number u32
//     reply    magic u32 | version u16 | word u16 | status u32
//
// Numbers are little-endian; a text ends with a zero, and zeros fill the rest of its field. A
// connection has one request, and its descriptors with it. The first reply is KC_START_STARTED or a
// refusal; the one after KC_START_STARTED is KC_START_ENDED, and the one after a refusal says
// nothing. A connection that ends ends the program. Before the request for a program that works for
// a user, keychaind binds the connection to that user, with one reply, KC_START_DONE or a refusal:
// then it may hand the connection on, as no other user's request is taken from it. Policies are
// compiled, folders adopted and workers ended for connections that are bound to no user. Magic,
// version and the size of a reply are those of every version.

#ifndef KC_START_RECORD_H
#define KC_START_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KC_START_MAGIC UINT32_C(0x5453434b) // "KCST"
#define KC_START_VERSION UINT16_C(3)
#define KC_START_HEAD_SIZE 12
#define KC_START_REPLY_SIZE 12
// Fields, with the zero that ends the text.
#define KC_START_SERVICE_SIZE 48
#define KC_START_NAME_SIZE 256
#define KC_START_FOLDER_SIZE 512
#define KC_START_FOLDERS_MAX 8
#define KC_START_FOLDERS_SIZE 4096
// The largest request is that of policies.
#define KC_START_REQUEST_MAX 4108
// What follows "keychain-" in the name of a service.
#define KC_START_METHOD_MAX 32
// A day. A file of 8 GiB takes 18 minutes.
#define KC_START_SECONDS_MAX 86400
// A TPM has this many platform configuration registers.
#define KC_START_REGISTERS 24
// The most descriptors of a program.
#define KC_START_DESCRIPTORS_MAX 2
// The numbers (users and groups alike) of the processes that keep a user's keychains.
#define KC_START_NUMBER_FIRST 0x7b000000u
#define KC_START_NUMBERS 65536u
// The status of a program that a signal ended.
#define KC_START_BY_SIGNAL 256

// What the administrator's services for another person's approval are called.
#define KC_START_APPROVAL "keychain-approval"

// What is asked for: a program, or one of three things that the starter does itself.
enum kc_start_program {
    // keychain-auth, with its conversation.
    KC_START_AUTHENTICATION = 1,
    // keychain-import, with the file to be read and the pipe that it writes to.
    KC_START_IMPORT = 2,
    // keychainctl-policy compile, with the pipe that it writes to. Its user is 0: the policies are
    // root's.
    KC_START_POLICY = 3,
    // keychain-tpm and keychain-fido, each with the socket of its exchange.
    KC_START_TPM = 4,
    KC_START_SECURITY_KEY = 5,
    // The connection is the user's from here on. Has no descriptor.
    KC_START_BIND = 6,
    // The user's folders become the number's. Comes with the folder of all users' states and that
    // of runtime files, both root's. The reply is KC_START_DONE.
    KC_START_ADOPT = 7,
    // A process of the number's ends, whose pidfd comes along: a worker that keychaind gave up. The
    // reply is KC_START_DONE.
    KC_START_END = 8,
};

// What a TPM or a security key is to do with a key.
enum kc_start_task {
    // A TPM seals a key, a security key makes one.
    KC_START_MAKE = 1,
    KC_START_OPEN = 2,
};

enum kc_start_word {
    KC_START_STARTED = 1,
    // Its status is the program's exit code, or KC_START_BY_SIGNAL; that of other words is 0.
    KC_START_ENDED = 2,
    // The connection is bound, the folders are adopted, or the process has been told to end.
    KC_START_DONE = 3,
    // Refusals. The record, or what came with it, is none of this version.
    KC_START_BAD_REQUEST = 0x8001,
    KC_START_OTHER_VERSION = 0x8002,
    // The peer is not this installation's keychaind, or the connection is bound to another user,
    // or to one or none where this request wants the other.
    KC_START_NOT_ALLOWED = 0x8003,
    // PAM has no file for the service.
    KC_START_NO_SERVICE = 0x8004,
    // As many of these programs run as may, for this user or for all, or as many connections wait.
    KC_START_BUSY = 0x8005,
    // The program is not installed as it should be, or the machine has no room for a process.
    KC_START_FAILED = 0x8006,
    // The program is not installed.
    KC_START_NOT_INSTALLED = 0x8007,
    // A folder is neither root's nor the number's, or a file in it has several names.
    KC_START_FOREIGN_FOLDER = 0x8008,
};

enum kc_start_status {
    KC_START_OK = 0,
    KC_START_MALFORMED,
    // Another version than KC_START_VERSION.
    KC_START_FOREIGN,
};

// A field that the program does not have is zero.
struct kc_start_request {
    enum kc_start_program program;
    // For whom the program runs, and whose the connection, the folders or the process are to be. Of
    // an approval it is the asker.
    uint32_t user;
    char service[KC_START_SERVICE_SIZE];
    char account[KC_START_NAME_SIZE];
    // Empty unless the service is KC_START_APPROVAL.
    char asker[KC_START_NAME_SIZE];
    // How long keychaind waits for the rows of a file.
    uint32_t seconds;
    // Absolute paths, one after the other, each with the zero that ends it.
    char folders[KC_START_FOLDERS_SIZE];
    enum kc_start_task task;
    // Bit 0 is the first register. None where the task is KC_START_OPEN.
    uint32_t registers;
    // The number that gets the folders, or has the process.
    uint32_t number;
};

// Each returns the size of the request; 0, and zeros, where the values make no request that is
// decoded.
size_t kc_start_encode_authentication(uint32_t user, const char *service, const char *account,
                                      const char *asker, uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_import(uint32_t user, uint32_t seconds, uint8_t bytes[KC_START_REQUEST_MAX]);
// `folders` has `count` bytes: each path with the zero that ends it.
size_t kc_start_encode_policy(const uint8_t *folders, size_t count,
                              uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_tpm(uint32_t user, enum kc_start_task task, uint32_t registers,
                           uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_security_key(uint32_t user, enum kc_start_task task,
                                    uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_bind(uint32_t user, uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_adopt(uint32_t user, uint32_t number, uint8_t bytes[KC_START_REQUEST_MAX]);
size_t kc_start_encode_end(uint32_t user, uint32_t number, uint8_t bytes[KC_START_REQUEST_MAX]);

// All zeros in `request` unless KC_START_OK.
enum kc_start_status kc_start_request_decode(const uint8_t *bytes, size_t count,
                                             struct kc_start_request *request);

// The path of `folders` that follows `folder`; the first where `folder` is NULL. NULL at the end.
const char *kc_start_next_folder(const struct kc_start_request *request, const char *folder);

void kc_start_reply_encode(enum kc_start_word word, uint32_t status,
                           uint8_t bytes[KC_START_REPLY_SIZE]);

// `word` and `status` are set where KC_START_OK.
enum kc_start_status kc_start_reply_decode(const uint8_t *bytes, size_t count,
                                           enum kc_start_word *word, uint32_t *status);

#endif
