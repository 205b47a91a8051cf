# SPDX-License-Identifier: Apache-2.0
"""Gives a program a terminal of its own, and answers for its user what is asked there. What it shows is
written to a file.

own_terminal.py FILE PROGRAM ARGUMENT…
"""

import fcntl
import os
import pty
import sys
import termios


def main(path, program):
    master, terminal = pty.openpty()
    modes = termios.tcgetattr(terminal)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    if os.fork() == 0:
        # The terminal stays open here, so that it does not end before the program opens it.
        with open(path, "wb", buffering=0) as shown:
            while said := os.read(master, 4096):
                shown.write(said)
                os.write(master, b"\r")
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    os.environ["TERM"] = "xterm"
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
