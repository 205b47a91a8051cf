// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_MACHINE AUDIT_ARCH_RISCV64
#else
#error "the numbers of this machine's system calls are not known"
#endif

static int limit(int resource, uint64_t most) {
    // More than it has is not for a process without rights to ask for.
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        return -1;
    }
    limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit);
}

int kc_limit(uint64_t memory, uint64_t locked, uint64_t seconds) {
    int failed = limit(RLIMIT_AS, memory) | limit(RLIMIT_MEMLOCK, locked) |
                 limit(RLIMIT_CPU, seconds) | limit(RLIMIT_FSIZE, 0) | limit(RLIMIT_NPROC, 0) |
                 limit(RLIMIT_CORE, 0);
    return failed == 0 ? 0 : -1;
}

int kc_limit_to_appending(uint64_t longest, uint64_t descriptors) {
    int failed = limit(RLIMIT_AS, 96 << 20) | limit(RLIMIT_MEMLOCK, 0) |
                 limit(RLIMIT_FSIZE, longest) | limit(RLIMIT_NOFILE, descriptors) |
                 limit(RLIMIT_NPROC, 0) | limit(RLIMIT_CORE, 0);
    return failed == 0 ? 0 : -1;
}

// As the kernel has it from Linux 6.12 on; older headers lack the later fields.
struct landlock_ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

// Writing to a file, and removing and making one, which a rename does.
enum { APPENDING = 1 << 1 | 1 << 5 | 1 << 8 };

struct landlock_folder {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

// Everything, but appending below the folder, where there is one.
static int forbid_files(int folder) {
    // What each version of Landlock can forbid: files, TCP, abstract sockets and signals.
    static const struct {
        struct landlock_ruleset all;
        size_t size;
    } versions[] = {
        {{(1 << 13) - 1, 0, 0}, 8},  {{(1 << 14) - 1, 0, 0}, 8},  {{(1 << 15) - 1, 0, 0}, 8},
        {{(1 << 15) - 1, 3, 0}, 16}, {{(1 << 16) - 1, 3, 0}, 16}, {{(1 << 16) - 1, 3, 3}, 24},
    };
    const long newest = sizeof versions / sizeof versions[0];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* which version */);
    if (version <= 0) {
        return 0;
    }
    version = version < newest ? version : newest;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &versions[version - 1].all,
                             versions[version - 1].size, 0);
    if (rules < 0) {
        return -1;
    }
    const struct landlock_folder left = {APPENDING, folder};
    int result =
        folder < 0 ? 0 : (int)syscall(SYS_landlock_add_rule, rules, 1 /* a folder */, &left, 0);
    if (result == 0) {
        result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    }
    close(rules);
    return result;
}

int kc_forbid_files(void) { return forbid_files(-1); }

int kc_forbid_files_but_appending(int folder) { return forbid_files(folder); }

#define FIELD(name) (uint32_t) offsetof(struct seccomp_data, name)
#define LOW(number) (FIELD(args[0]) + 8 * (number)) // the lower half: all are little-endian
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define END(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), END(SECCOMP_RET_ALLOW)
// Only without PROT_EXEC in the third argument. Loads another word, so it ends either way.
#define ALLOW_DATA(name)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(LOW(2)),                           \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), END(SECCOMP_RET_ALLOW),             \
        END(SECCOMP_RET_KILL_PROCESS)

// Only with these two arguments. Loads other words, so it ends either way.
#define ALLOW_WITH(name, one, first, two, second)                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 6), LOAD(LOW(one)),                         \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(first), 0, 3), LOAD(LOW(two)),              \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(second), 0, 1), END(SECCOMP_RET_ALLOW),     \
        END(SECCOMP_RET_KILL_PROCESS)

// What each list begins and ends with.
#define THIS_MACHINE_ALONE                                                                         \
    LOAD(FIELD(arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 1, 0),                    \
        END(SECCOMP_RET_KILL_PROCESS), LOAD(FIELD(nr))

static int enforce(struct sock_filter *filter, size_t count) {
    struct sock_fprog program = {(unsigned short)count, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int kc_allow_only_reading_and_writing(void) {
    struct sock_filter filter[] = {
        THIS_MACHINE_ALONE,
        // What SQLite does through its descriptor, and the answer.
        ALLOW(pread64),
        ALLOW(lseek),
        ALLOW(write),
        // The memory of both.
        ALLOW_DATA(mmap),
        ALLOW_DATA(mprotect),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        ALLOW(brk),
        ALLOW(futex),
        ALLOW(exit_group),
        END(SECCOMP_RET_KILL_PROCESS),
    };
    return enforce(filter, sizeof filter / sizeof filter[0]);
}

int kc_allow_only_speaking_to_devices(void) {
    struct sock_filter filter[] = {
        THIS_MACHINE_ALONE,
        // What libfido2 and tpm2-tss say to a device that is open and hear from it, and the answer.
        ALLOW(read),
        ALLOW(write),
#ifdef SYS_poll
        ALLOW(poll),
#endif
        ALLOW(ppoll),
        ALLOW(sendmsg),
        ALLOW(close),
        // The time, where the kernel has to be asked for it, and what OpenSSL's generator is fed.
        ALLOW(clock_gettime),
        ALLOW(getrandom),
        ALLOW(getpid),
        // Their memory; secrets are in memory that is locked.
        ALLOW_DATA(mmap),
        ALLOW_DATA(mprotect),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        ALLOW(mlock),
        ALLOW(munlock),
        ALLOW(brk),
        ALLOW(futex),
        ALLOW(exit_group),
        END(SECCOMP_RET_KILL_PROCESS),
    };
    return enforce(filter, sizeof filter / sizeof filter[0]);
}

int kc_allow_only_appending(int folder, int opening) {
    struct sock_filter filter[] = {
        THIS_MACHINE_ALONE,
        // A record, which may bring a socket, and its reply.
        ALLOW(ppoll),
        ALLOW(recvmsg),
        ALLOW(sendto),
        // The time, where the kernel has to be asked for it.
        ALLOW(clock_gettime),
        // Its file, of which nothing is read and nothing is written over.
        ALLOW_WITH(openat, 0, folder, 2, opening),
        ALLOW(lseek),
        ALLOW(write),
        ALLOW(close),
        ALLOW_WITH(renameat2, 0, folder, 2, folder),
        ALLOW(exit_group),
        END(SECCOMP_RET_KILL_PROCESS),
    };
    return enforce(filter, sizeof filter / sizeof filter[0]);
}

#define DENIED END(SECCOMP_RET_ERRNO | EPERM)
#define DENY(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), DENIED
// Only where the argument has one of the bits. Loads another word, so it ends either way.
#define DENY_WITH_BITS(name, argument, bits)                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(LOW(argument)),                    \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), 0, 1), DENIED,                      \
        END(SECCOMP_RET_ALLOW)
// Only where the argument is another process than this.
#define DENY_TO_OTHERS(name)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(LOW(0)),                           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0), DENIED,                     \
        END(SECCOMP_RET_ALLOW)

int kc_allow_only_looking(void) {
    const uint32_t changing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    struct sock_filter filter[] = {
        THIS_MACHINE_ALONE,
#ifdef __x86_64__
        // The same calls by their other numbers.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        END(SECCOMP_RET_KILL_PROCESS),
        DENY_WITH_BITS(open, 1, changing),
        DENY(creat),
        DENY(unlink),
        DENY(rename),
        DENY(link),
        DENY(symlink),
        DENY(mkdir),
        DENY(rmdir),
        DENY(mknod),
        DENY(chmod),
        DENY(chown),
        DENY(lchown),
        DENY(fork),
        DENY(vfork),
#endif
        // Files: what the next ones do, in a structure that no filter can look at, included.
        DENY_WITH_BITS(openat, 2, changing),
        DENY(openat2),
        DENY(open_by_handle_at),
        DENY(io_uring_setup),
        DENY(unlinkat),
#ifdef SYS_renameat
        DENY(renameat),
#endif
        DENY(renameat2),
        DENY(linkat),
        DENY(symlinkat),
        DENY(mkdirat),
        DENY(mknodat),
        DENY(fchmod),
        DENY(fchmodat),
        DENY(fchown),
        DENY(fchownat),
        DENY(truncate),
        DENY(ftruncate),
        DENY(fallocate),
        DENY(setxattr),
        DENY(lsetxattr),
        DENY(fsetxattr),
        DENY(utimensat),
        DENY(mount),
        DENY(umount2),
        // Other processes.
        DENY(ptrace),
        DENY(process_vm_readv),
        DENY(process_vm_writev),
        DENY(kill),
        DENY(tkill),
        DENY_TO_OTHERS(tgkill),
        DENY(pidfd_send_signal),
        DENY(rt_sigqueueinfo),
        DENY(rt_tgsigqueueinfo),
        // What obeys root, and programs.
        DENY(socket),
        DENY(socketpair),
        DENY(connect),
        DENY(bind),
        DENY(execve),
        DENY(execveat),
        DENY(unshare),
        DENY(setns),
        DENY(add_key),
        DENY(request_key),
        DENY(keyctl),
        DENY(bpf),
        DENY(perf_event_open),
        END(SECCOMP_RET_ALLOW),
    };
    return enforce(filter, sizeof filter / sizeof filter[0]);
}
