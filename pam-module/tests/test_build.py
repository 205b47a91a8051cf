# SPDX-License-Identifier: Apache-2.0
"""What the built module shows to the outside. Needs no root."""

import os
import subprocess
import sys

FUNCTIONS = {"pam_sm_authenticate", "pam_sm_setcred", "pam_sm_open_session",
             "pam_sm_close_session", "pam_sm_chauthtok"}
# Nothing of the host's is ours to read or change: environment, processes, ids, signals, folder.
FORBIDDEN = {
    "getenv", "secure_getenv", "putenv", "setenv", "fork", "vfork", "system", "popen", "execve",
    "posix_spawn", "wait", "waitpid", "setuid", "seteuid", "setreuid", "setresuid", "setgid",
    "setegid", "setfsuid", "setgroups", "initgroups", "signal", "sigaction", "sigprocmask", "umask",
    "chdir", "fchdir", "setlocale", "pthread_create", "sodium_init", "abort", "exit", "_exit",
    "syslog", "openlog", "stat", "lstat", "mkdir", "unlink", "chmod", "chown"}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout.decode()


def symbols(module, kind):
    lines = output("nm", "-D", kind, module).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def checks(build):
    module = os.path.join(build, "pam_keychain.so")
    yield "build: exports exactly the five functions", (
        symbols(module, "--defined-only") == FUNCTIONS)
    yield "build: calls nothing that changes the host", (
        not symbols(module, "--undefined-only") & FORBIDDEN)
    dynamic, segments = output("readelf", "-d", module), output("readelf", "-lW", module)
    yield "build: bound at once, read-only relocations, no executable stack", (
        "BIND_NOW" in dynamic and "GNU_RELRO" in segments and "TEXTREL" not in dynamic
        and "NODLOPEN" not in dynamic
        and not any("GNU_STACK" in line and "RWE" in line for line in segments.splitlines()))
    needed = {line.split("[")[1].split(".so")[0] for line in dynamic.splitlines() if "NEEDED" in line}
    yield "build: needs libc, libpam, libkeyutils and libsodium only", (
        needed == {"libc", "libpam", "libkeyutils", "libsodium"})
    writable = output("readelf", "-SW", module)
    sizes = {line.split()[1]: int(line.split("]")[1].split()[4], 16)
             for line in writable.splitlines()
             if line.strip().startswith("[") and line.split("]")[1].split()[:1] in (
                 [".data"], [".bss"]) for line in [line.replace("[ ", "[")]}
    yield "build: no global state beyond the linker's own", all(
        size <= 8 for size in sizes.values())


def run(build):
    passed = failed = 0
    for name, held in checks(build):
        print(f"{'ok  ' if held else 'FAIL'} {name}", flush=True)
        passed, failed = passed + bool(held), failed + (not held)
    return passed, failed


if __name__ == "__main__":
    sys.exit(run(sys.argv[1])[1] > 0)
