// SPDX-License-Identifier: Apache-2.0
// System calls that Swift can't make itself: control messages, and constants that older headers
// lack.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/// The sender of received data, as the kernel reports it.
struct kc_sender {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
    /// 0 where the kernel reported no sender.
    int32_t known;
};

/// Makes the kernel refuse descriptors that peers send, on all connections that a listener gets
/// from now on; 0 or -1 (before Linux 6.16).
int kc_refuse_descriptors(int socket);

/// 1 where the kernel has refused descriptors since the connection exists.
int kc_refuses_descriptors(int socket);

/// recvmsg. Never takes a descriptor that a peer passes. If `may_bring_descriptors`, data with a
/// descriptor stays unread: -1 with EBADMSG. A truncated control message counts as an unknown
/// sender; with a NULL sender none is looked up.
ssize_t kc_receive(int socket, void *buffer, size_t length, int flags, int may_bring_descriptors,
                   struct kc_sender *sender);

/// Lets a peer whose connections refuse descriptors pass them on this one; 0, also where the kernel
/// never refuses any, or -1.
int kc_accept_descriptors(int socket);

/// Receives, and takes the one descriptor that may come along, closed on exec: `passed` is then the
/// caller's to close, else -1. Of several none is taken: -1 with EBADMSG.
ssize_t kc_receive_passed(int socket, void *buffer, size_t length, int *passed,
                          struct kc_sender *sender);

/// Receives a whole record from a peer of root's, with the one descriptor that may come along,
/// closed on exec: `passed` is then the caller's to close, else -1. With a longer record, or more
/// descriptors, none is kept: -1 with EBADMSG.
ssize_t kc_receive_one(int socket, void *buffer, size_t length, int *passed);

/// Closes a descriptor that a peer passed, at once for a pidfd and else in a thread of its own:
/// each close of a file can take as long as its owner likes.
void kc_close_passed(int passed);

/// A byte that another thread has the kernel write.
uint8_t kc_load_byte(const uint8_t *byte);

/// Closes a peer's connection without waiting for descriptors that the peer has put in it. The last
/// close of a socket with SO_LINGER takes as long as its owner has set, and a socket that lies
/// unread in a connection is closed with the connection.
void kc_close_peer(int socket);

/// The same for a copy of a peer's connection, which goes on where there is another one.
void kc_close_copy(int socket);

/// Closes any socket without waiting, at the cost of a thread: only the exit of a thread does not
/// linger. The thread has a descriptor table of its own, so that its copy is the last.
void kc_close_held(int socket);

/// Sends both parts with MSG_NOSIGNAL and MSG_DONTWAIT: a peer that stops reading gives EAGAIN. If
/// `self` is given and known, the message carries these credentials, and the kernel checks them.
ssize_t kc_send(int socket, const void *first, size_t first_length, const void *second,
                size_t second_length, const struct kc_sender *self);

/// Sends, and passes a copy of the descriptor to the peer; none if it is below 0.
ssize_t kc_send_passing(int socket, const void *first, size_t first_length, const void *second,
                        size_t second_length, const struct kc_sender *self, int passed);

/// The same for any number of parts.
ssize_t kc_send_parts(int socket, const struct iovec *parts, size_t count,
                      const struct kc_sender *self, int passed);

enum { KC_MOST_PASSED = 2 };

/// The same for one part, and copies of up to KC_MOST_PASSED descriptors.
ssize_t kc_send_passing_all(int socket, const void *bytes, size_t length, const int *passed,
                            size_t count);

/// The credentials that SO_PEERCRED would report for a connection made now. Known only where a
/// message must carry them: SO_PEERCRED reports the effective ids, messages by default the real
/// ones.
struct kc_sender kc_own_credentials(void);

/// A descriptor for the peer's process, taken when it connected; -1 where there is none.
int kc_peer_pidfd(int socket);

/// Waits for a connection and accepts it with close-on-exec; -1 with ECANCELED once `wake` was
/// woken.
int kc_accept(int socket, int wake);

/// A descriptor that stays woken once it is.
int kc_wake_make(void);
void kc_wake(int wake);

/// Gives a file another name in one step; -1 with EEXIST where that name is taken.
int kc_rename_new(const char *from, const char *to);

/// Exchanges the names of two files in one step; -1 with EINVAL or ENOSYS where the file system
/// can't.
int kc_rename_exchange(const char *one, const char *other);

/// When the file was made, in seconds since 1970; 0 where the file system does not tell.
uint64_t kc_file_made(const char *path);

/// Makes freed memory go back to the kernel, instead of staying in an arena of each thread.
void kc_bound_memory(void);

/// The cores that a thread may run on, a bit for each; 0 is the calling thread. -1 on failure, also
/// where the kernel has more cores than there are bits.
int kc_cores(int thread, uint64_t *words, size_t count);
/// Has the calling thread run on these cores alone; 0 or -1.
int kc_run_on(const uint64_t *words, size_t count);

/// The credentials of the process that connected; 0 or -1.
int kc_peer_credentials(int socket, struct kc_sender *peer);

/// 1 when the peer has closed its end or the connection is broken; reads nothing.
int kc_hung_up(int socket);
/// Waits until the peer has closed its end, or the process of that pidfd has ended; -1 for none.
void kc_wait_for_hang_up(int socket, int process);

/// The numbers by which the kernel knows the file that `name` leads to from `folder`, or for an
/// empty name the file of the descriptor `folder`; -1 on failure. Asks no file system, so it never
/// waits.
int kc_file_identity(int folder, const char *name, uint64_t *device, uint64_t *inode);

/// A descriptor that keeps the file that `name` leads to from `folder`, without access to its
/// contents; -1 on failure.
int kc_hold_file(int folder, const char *name);

/// A folder, opened only for looking up names in it.
int kc_open_folder(const char *path);

/// Whether the path's file system gives no rights to set-id programs; 1 also where that can't be
/// told.
int kc_is_mounted_nosuid(const char *path);
/// Whether looking up names in the path's folder mounts file systems; 1 also where that can't be
/// told.
int kc_is_automounted(const char *path);
/// Whether an access list beside the mode decides about access.
int kc_has_access_list(const char *path);

/// Forbids core dumps of this process, and tracing by its own user; 0 or -1.
int kc_forbid_dumping(void);

/// Forbids this thread and its children to gain rights by starting a program; 0 or -1.
int kc_forbid_new_privileges(void);

/// Leaves this thread, and those that it starts from now on, no capability but these (a bit for
/// each number), as far as it has them; 0 or -1.
int kc_keep_capabilities(uint64_t kept);

/// Discards all that libraries or the language's runtime write to standard error from now on;
/// standard output goes where that went. A crash reports there its signal and its place in the
/// program, and no data. 0 or -1.
int kc_tell_of_crashes(const char *name);

/// The C library's text for an `errno`; never changed nor freed.
const char *kc_error_text(int error);

/// 1 where the kernel started this process with more rights than its caller has (AT_SECURE).
int kc_runs_with_foreign_rights(void);

/// A memory file without a name in any folder, which can be sealed; closed on exec. Or -1.
int kc_memory_make(const char *name);

/// Seals the file: neither its content nor its length can be changed any more. 0 or -1.
int kc_memory_seal(int memory);

/// 1 for a memory file that was sealed so.
int kc_memory_is_sealed(int memory);

int kc_pidfd_open(pid_t pid);

/// Whether a user who runs the file gains rights: setuid, setgid, capabilities.
int kc_gives_rights(int file);

/// The number of the process's control group in the unified hierarchy, which no other group has had
/// since boot; 0 where the kernel doesn't report it (before Linux 6.13), or the process has ended.
uint64_t kc_control_group(int pidfd);

/// A device that a process has open, as the kernel counts it in /proc/PID/stat, on which file
/// system, and for which user its file is.
struct kc_open_device {
    uint64_t file_system;
    uint32_t user;
    /// Whether it was opened as /dev/tty, whose file system and user these are then.
    int32_t is_indirect;
};

/// The open files of a thread, by its folder under /proc and its number, that are this character
/// device: each kind once. Returns how many, at most `most`; -1 where there are more, -2 where
/// `deadline` (nanoseconds of CLOCK_MONOTONIC) passes before all files were looked at. No file's
/// owner or server is waited for.
int kc_find_device(int folder, pid_t thread, uint32_t device, struct kc_open_device *found,
                   int most, uint64_t deadline);

/// Whether two threads have the same table of open files.
int kc_share_files(pid_t one, pid_t other);

/// Whether the user made the process's user namespace, or one around it, below this process's own.
int kc_is_in_namespace_of(int folder, uint32_t user);

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t kc_monotonic_time(void);

int kc_pidfd_kill(int pidfd, int signal);

/// Waits for the child and reaps it. The code is -1 when a signal ended it. 0 or -1.
int kc_reap(int pidfd, int *code);

/// Becomes a program, looked up in PATH if its name has no slash, with this process's environment
/// and the added variables, which replace those of the same names. Returns only on failure: an
/// errno.
int kc_exec_adding(const char *program, char *const argv[], const char *const added[],
                   size_t count);

/// Takes the number for all user and group numbers. Of further groups `kept` stays, where this
/// process has it. 0, else -1 with errno.
int kc_become(uint32_t number, uint32_t kept);

/// What ps(1) calls this process: 15 bytes of the name are kept.
void kc_name_process(const char *name);

/// Starts a program with exactly the given descriptors (source[i] becomes target[i]; of 0-2, those
/// not given are /dev/null if `quiet`, else this process's), and without a group that only this
/// program's file gives. It ends with its parent. Returns 0, else an errno.
int kc_spawn(const char *program, char *const argv[], char *const envp[], const int *source,
             const int *target, size_t count, int new_session, int quiet, pid_t *child);

/// Bounds the process's address space, its locked memory and its processor time; forbids longer
/// files, new processes and core dumps. 0 or -1.
int kc_limit(uint64_t memory, uint64_t locked, uint64_t seconds);

/// From now on this thread and its children can open, name, run or reach nothing: no file, TCP
/// port, abstract socket or process of others, as far as the kernel's Landlock goes. Open
/// descriptors stay usable. 0, also where the kernel has no Landlock, or -1.
int kc_forbid_files(void);

/// The same for a process that appends to files of no more than `longest` bytes, has so many
/// descriptors and lives long: its memory is bounded, and its processor time is not. 0 or -1.
int kc_limit_to_appending(uint64_t longest, uint64_t descriptors);

/// The same as `kc_forbid_files`, except that files in the folder can be made, written to and
/// renamed. 0 or -1.
int kc_forbid_files_but_appending(int folder);

/// From now on any system call ends the process, except those for waiting, receiving, also of
/// descriptors, and sending, for opening a name in the folder with the flags `opening`, writing
/// there, renaming there, the time, and the exit. 0 or -1.
int kc_allow_only_appending(int folder, int opening);

/// From now on calls fail with EPERM by which this process would change a file, write to another
/// process's memory or read it by a call for that, send a signal to another process, connect to a
/// socket, start a program or use a key. 0 or -1. Holds for this thread and those that it starts.
int kc_allow_only_looking(void);

/// From now on any system call ends the process, except those for reading at a place, writing,
/// memory that is not executable, and the exit. 0 or -1.
int kc_allow_only_reading_and_writing(void);

/// The same with calls to read and to wait, for random bytes, and to lock memory. 0 or -1.
int kc_allow_only_speaking_to_devices(void);
