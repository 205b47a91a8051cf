# SPDX-License-Identifier: Apache-2.0
"""A confined process made to do what it would not: the kernel answers it, and no copy of it."""

import ctypes
import os
import pathlib
import re
import signal
import subprocess

import pytest

import world
from takeover import (ALL_THREADS, ARGUMENTS, ATTACH, GET_REGISTERS, LIBC, SET_REGISTERS, STEP, Registers,
                      ptrace)

amd64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="calls by their numbers here")
CONFINEMENT = world.TOP / "Sources/CKeychainLinux/Confinement.c"
TRACE_ME, POKE, UNTIL_CALL = 0, 4, 24
SET_OPTIONS, MARK_CALLS, ITS_CALL = 0x4200, 1, signal.SIGTRAP | 0x80


def get_registers(pid):
    registers = Registers()
    ptrace(GET_REGISTERS, pid, None, ctypes.byref(registers))
    return registers


def set_registers(pid, registers, **values):
    for name, value in values.items():
        setattr(registers, name, value)
    ptrace(SET_REGISTERS, pid, None, ctypes.byref(registers))


def arguments_of_call(arguments):
    return dict(zip(ARGUMENTS, (*arguments, *[0] * 6)))


def call_numbers():
    """By name, as this machine's headers have them."""
    words = world.run("gcc", "-E", "-dM", "-xc", "-", input="#include <sys/syscall.h>\n").stdout
    return {name: int(number) for name, number in re.findall(r"__NR_(\w+) (\d+)", words)}


def allowed_calls(function):
    """Of a list in Confinement.c."""
    body = CONFINEMENT.read_text().split(f"int {function}(")[1].split("\n}\n")[0]
    return set(re.findall(r"^ +ALLOW(?:_DATA|_WITH)?\((\w+)[,)]", body, re.MULTILINE))


def status(pid):
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def call(process, number, *arguments, instruction=None):
    """Has a confined process, which waits in a call, make another: what the kernel answered, or the
    signal that ended the process."""
    pid = process.pid
    ptrace(ATTACH, pid)
    os.waitpid(pid, ALL_THREADS)
    registers = get_registers(pid)
    # The instruction that it waits in, once more.
    registers.rip -= 2
    if instruction:
        ptrace(POKE, pid, registers.rip, int.from_bytes(instruction * 4, "little"))
        registers.rbx = registers.rcx = 0
    set_registers(pid, registers, rax=number, orig_rax=2**64 - 1, **arguments_of_call(arguments))
    ptrace(STEP, pid)
    _, ended = os.waitpid(pid, ALL_THREADS)
    if os.WIFSIGNALED(ended):
        process.returncode = -os.WTERMSIG(ended)
        return signal.Signals(os.WTERMSIG(ended))
    return ctypes.c_int64(get_registers(pid).rax).value


class BeforeItsFilter:
    """A program in the moment in which it asks for its list of system calls: all else that it takes
    from itself is gone, and no list hides what that comes to."""

    def __init__(self, command, **options):
        self.numbers = call_numbers()
        self.process = subprocess.Popen(command, preexec_fn=self._trace_me, **options)
        self.pid = self.process.pid
        self._wait()
        ptrace(SET_OPTIONS, self.pid, None, MARK_CALLS)
        # As it enters a call and as it leaves it, it stops.
        while True:
            self._go_on()
            registers = get_registers(self.pid)
            if registers.orig_rax == self.numbers["seccomp"]:
                break
            self._go_on()
        self.text = registers.rsp - 4096
        # The call itself is not made.
        set_registers(self.pid, registers, orig_rax=2**64 - 1)
        self._go_on()

    @staticmethod
    def _trace_me():
        LIBC.ptrace(TRACE_ME, 0, None, None)

    def _wait(self):
        _, ended = os.waitpid(self.pid, ALL_THREADS)
        assert os.WIFSTOPPED(ended), f"it ended: {ended}"
        return os.WSTOPSIG(ended)

    def _go_on(self):
        came = signal.SIGTRAP
        while came != ITS_CALL:
            ptrace(UNTIL_CALL, self.pid, None, 0 if came == signal.SIGTRAP else came)
            came = self._wait()

    def call(self, name, *arguments):
        """What the kernel answers: texts and bytes are given by their address."""
        place, given = self.text, []
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            for argument in arguments:
                if isinstance(argument, (str, bytes)):
                    content = argument.encode() + b"\0" if isinstance(argument, str) else argument
                    memory.seek(place)
                    memory.write(content)
                    argument, place = place, place + (len(content) + 15) // 16 * 16
                given.append(argument % 2**64)
        registers = get_registers(self.pid)
        set_registers(self.pid, registers, rip=registers.rip - 2, rax=self.numbers[name],
                      orig_rax=2**64 - 1, **arguments_of_call(given))
        self._go_on()
        self._go_on()
        return ctypes.c_int64(get_registers(self.pid).rax).value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
