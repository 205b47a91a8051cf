// SPDX-License-Identifier: Apache-2.0
// What Swift cannot say to the kernel itself: control messages, and constants that older headers
// lack.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Who sent what was received, by the kernel's word.
struct kc_sender {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
    /// 0 where the kernel said nothing.
    int32_t known;
};

/// Has the kernel refuse descriptors that peers send along, on a listener for all connections made
/// from now on; 0 or -1 (before Linux 6.16).
int kc_refuse_descriptors(int socket);

/// 1 where the kernel has refused them for as long as the connection exists.
int kc_refuses_descriptors(int socket);

/// recvmsg. No descriptor that a peer passes is ever taken. Where `may_bring_descriptors`, data
/// that brings one stays where it is: -1 with EBADMSG. A cut control message counts as an unknown
/// sender; a NULL sender is not asked for.
ssize_t kc_receive(int socket, void *buffer, size_t length, int flags, int may_bring_descriptors,
                   struct kc_sender *sender);

/// Lets a peer whose connections refuse descriptors pass them on this one; 0, also where the kernel
/// never refuses any, or -1.
int kc_accept_descriptors(int socket);

/// The same, and takes the one descriptor that may come along, closed on exec: `passed` is then the
/// caller's to close, else -1. Data that brings several stays where it is: -1 with EBADMSG.
ssize_t kc_receive_passed(int socket, void *buffer, size_t length, int *passed,
                          struct kc_sender *sender);

/// How many descriptors the data brings that a socket gives next, without taking it or waiting for
/// it: 0, 1, or 2 for several. `head` gets the first bytes of it. -1 with EAGAIN where nothing is
/// there.
int kc_count_descriptors(int socket, void *head, size_t length);

/// Closes a descriptor that a peer passed, at once for a pidfd and else as `kc_close_held` does:
/// the last close of a file can take as long as its owner likes.
void kc_close_passed(int passed);

/// Closes a peer's connection without waiting for what its peer put in it. The last close of a
/// socket with SO_LINGER takes as long as its owner said, and one that lies unread in a connection
/// is closed with the connection.
void kc_close_peer(int socket);

/// The same for any socket, at the cost of a thread: only a thread that ends does not linger. It
/// has a table of descriptors of its own, so that its copy is the last.
void kc_close_held(int socket);

/// Both parts with MSG_NOSIGNAL and MSG_DONTWAIT: a peer that stops reading gives EAGAIN. Where
/// `self` is given and known the message says so itself, and the kernel checks it.
ssize_t kc_send(int socket, const void *first, size_t first_length, const void *second,
                size_t second_length, const struct kc_sender *self);

/// The same, with a descriptor that the peer gets a copy of; none where it is below 0.
ssize_t kc_send_passing(int socket, const void *first, size_t first_length, const void *second,
                        size_t second_length, const struct kc_sender *self, int passed);

/// What SO_PEERCRED tells others about a connection made now. Known only where a message must say
/// it: SO_PEERCRED tells of the effective ids, and messages by themselves of the real ones.
struct kc_sender kc_own_credentials(void);

/// A descriptor for the peer's process, taken when it connected; -1 where there is none.
int kc_peer_pidfd(int socket);

/// Waits for a connection and accepts it with close-on-exec; -1 with ECANCELED once `wake` was
/// woken.
int kc_accept(int socket, int wake);

/// A descriptor that stays woken for ever.
int kc_wake_make(void);
void kc_wake(int wake);

/// Gives a file another name in one step; -1 with EEXIST where that name is taken.
int kc_rename_new(const char *from, const char *to);

/// Two files change names in one step; -1 with EINVAL or ENOSYS where the file system can't.
int kc_rename_exchange(const char *one, const char *other);

/// When the file was made, in seconds since 1970; 0 where the file system does not tell.
uint64_t kc_file_made(const char *path);

/// Has freed memory go back to the kernel, and not lie in an arena of each thread.
void kc_bound_memory(void);

/// Who connected; 0 or -1.
int kc_peer_credentials(int socket, struct kc_sender *peer);

/// 1 when the peer has closed its end or the connection is broken; reads nothing.
int kc_hung_up(int socket);
/// Waits until the peer has closed its end, or the process of that pidfd has ended; -1 for none.
void kc_wait_for_hang_up(int socket, int process);

/// A descriptor that keeps the file that `name` leads to from `folder`, and gives no access to what
/// is in it; -1 on failure.
int kc_hold_file(int folder, const char *name);

/// A folder, opened for looking things up in it only.
int kc_open_folder(const char *path);

/// Whether the file system that the path leads to gives no rights to set-id programs; also where
/// that can't be told.
int kc_is_mounted_nosuid(const char *path);
/// Whether the path's folder mounts what is looked for in it; also where that can't be told.
int kc_is_automounted(const char *path);
/// Whether more than its mode says who may use the file.
int kc_has_access_list(const char *path);

/// No core dumps of this process, no tracing by its own user; 0 or -1.
int kc_forbid_dumping(void);

/// No rights by starting a program, for this thread and what it starts; 0 or -1.
int kc_forbid_new_privileges(void);

/// From now on nothing that a library or the language's runtime writes to standard error is seen;
/// standard output goes where that went. A crash says there by which signal it came and where in
/// the program, and shows no data. 0 or -1.
int kc_tell_of_crashes(const char *name);

/// What the C library says of an `errno`; never changed nor freed.
const char *kc_error_text(int error);

/// 1 where the kernel started this process with more rights than its caller has (AT_SECURE).
int kc_runs_with_foreign_rights(void);

/// A file of memory, without a name in any folder, that can be sealed; closed on exec. Or -1.
int kc_memory_make(const char *name);

/// From now on it can't be changed, nor its length. 0 or -1.
int kc_memory_seal(int memory);

/// 1 for a file of memory that was sealed so.
int kc_memory_is_sealed(int memory);

int kc_pidfd_open(pid_t pid);

/// Whether who runs the file gets rights that they have not themselves: setuid, setgid,
/// capabilities.
int kc_gives_rights(int file);

/// The number of the process's control group in the unified hierarchy, which no other group has had
/// since the machine started; 0 where the kernel doesn't tell it (before Linux 6.13), or the
/// process is gone.
uint64_t kc_control_group(int pidfd);

int kc_pidfd_kill(int pidfd, int signal);

/// Waits for the child and lets it go. The code is -1 when a signal ended it. 0 or -1.
int kc_reap(int pidfd, int *code);

/// Becomes a program, looked for in PATH where its name has no slash, with this process's
/// environment and the added variables, which replace those of the same names. Returns only where
/// that fails: an errno.
int kc_exec_adding(const char *program, char *const argv[], const char *const added[],
                   size_t count);

/// Starts a program with exactly the named descriptors (source[i] becomes target[i]; those of 0-2
/// that are not named are /dev/null where `quiet`, else ours), and without a group that is only
/// this program's file's. It dies with its parent. Returns 0, else errno.
int kc_spawn(const char *program, char *const argv[], char *const envp[], const int *source,
             const int *target, size_t count, int new_session, int quiet, pid_t *child);

/// Bounds the process's address space, how much of it may be locked, and its time of the processor;
/// it makes no file longer, starts no process and leaves no image of itself. 0 or -1.
int kc_limit(uint64_t memory, uint64_t locked, uint64_t seconds);

/// From now on this thread and its children open, name, run and reach nothing: no file, TCP port,
/// abstract socket or process of others, as far as the kernel's Landlock goes. Descriptors stay as
/// they are. 0, also where the kernel has no Landlock, or -1.
int kc_forbid_files(void);

/// From now on any system call but those of reading at a place, writing, memory that is not run,
/// and the end, ends the process. 0 or -1.
int kc_allow_only_reading_and_writing(void);

/// The same with calls to read and to wait, for random bytes, and to lock memory. 0 or -1.
int kc_allow_only_speaking_to_devices(void);
