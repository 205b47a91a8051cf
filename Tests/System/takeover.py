# SPDX-License-Identifier: Apache-2.0
"""A process that runs, made to do what code would do that had taken it over: with its own number,
capabilities, descriptors, filters and view of the files. It is not harmed, and goes on afterwards.

As a program, in a machine that has no more than this file: takeover.py PID, and on the standard input a
list of calls in JSON, each [number, argument ...]. What the kernel answered comes in JSON."""

import contextlib
import ctypes
import json
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
STEP, GET_REGISTERS, SET_REGISTERS, ATTACH, DETACH = 9, 12, 13, 16, 17
ALL_THREADS = 0x40000000
ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")
# What texts and buffers of a call take, below the stack.
ROOM = 16384


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss"
        " fs_base gs_base ds es fs gs").split()]


def ptrace(request, pid, address=None, data=None):
    if LIBC.ptrace(request, pid, address, data) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace {request}: {os.strerror(number)}")


class Taken:
    """The process's first thread, which has to wait in a call."""

    def __init__(self, pid):
        self.pid = pid
        ptrace(ATTACH, pid)
        os.waitpid(pid, ALL_THREADS)
        self.before = Registers()
        ptrace(GET_REGISTERS, pid, None, ctypes.byref(self.before))

    def call(self, number, *arguments):
        """What the kernel answers: a number below zero is an error's. Texts and bytes are given by their
        address; a bytearray has afterwards what the kernel wrote into it."""
        registers = Registers.from_buffer_copy(self.before)
        place, given, written = self.before.rsp - ROOM, [], []
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            for argument in arguments:
                if isinstance(argument, (str, bytes, bytearray)):
                    content = argument.encode() + b"\0" if isinstance(argument, str) else argument
                    memory.seek(place)
                    memory.write(content)
                    if isinstance(argument, bytearray):
                        written.append((place, argument))
                    argument, place = place, place + (len(content) + 15) // 16 * 16
                given.append(argument % 2**64)
            # The instruction that it waits in, once more.
            registers.rip -= 2
            registers.rax, registers.orig_rax = number, 2**64 - 1
            for name, value in zip(ARGUMENTS, (*given, *[0] * 6)):
                setattr(registers, name, value)
            ptrace(SET_REGISTERS, self.pid, None, ctypes.byref(registers))
            self._step()
            ptrace(GET_REGISTERS, self.pid, None, ctypes.byref(registers))
            for place, buffer in written:
                memory.seek(place)
                buffer[:] = memory.read(len(buffer))
        return ctypes.c_int64(registers.rax).value

    def _step(self):
        ptrace(STEP, self.pid)
        _, ended = os.waitpid(self.pid, ALL_THREADS)
        if not os.WIFSTOPPED(ended):
            raise AssertionError(f"the process ended: {ended}")
        while os.WSTOPSIG(ended) != signal.SIGTRAP:
            ptrace(STEP, self.pid)
            _, ended = os.waitpid(self.pid, ALL_THREADS)

    def end(self):
        """It waits on in its own call."""
        with contextlib.suppress(OSError):
            ptrace(SET_REGISTERS, self.pid, None, ctypes.byref(self.before))
            ptrace(DETACH, self.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


if __name__ == "__main__":
    with Taken(int(sys.argv[1])) as taken:
        print(json.dumps([taken.call(*each) for each in json.load(sys.stdin)]))
