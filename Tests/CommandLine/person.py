# SPDX-License-Identifier: Apache-2.0
"""A person at a terminal: waits for each question, types the answer, shows the screen."""

import os
import pty
import select
import termios
import time

DEADLINE = 120


class Person:
    def __init__(self, *words, passing=None):
        """`passing` becomes the program's descriptor 3."""
        print("$ " + " ".join([os.path.basename(words[0]), *words[1:]]), flush=True)
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            if passing is not None:
                os.dup2(passing.fileno(), 3)
                os.set_inheritable(3, True)
            os.execvp(words[0], words)
        self.screen = b""

    def sees(self, text):
        end = time.monotonic() + DEADLINE
        while text.encode() not in self.screen:
            if not self.look(end):
                raise SystemExit(f"never saw {text!r} but {self.screen!r}")
        return self

    def look(self, end):
        ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
        try:
            more = os.read(self.terminal, 4096) if ready else b""
        except OSError:
            more = b""
        self.screen += more
        return more

    def echoes(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def types(self, keys):
        if self.echoes():
            print("the terminal echoes while a secret is asked for")
        self.shows()
        os.write(self.terminal, keys.encode())
        return self

    def answers(self, keys):
        """To a question that is no secret."""
        self.shows()
        os.write(self.terminal, keys.encode())
        return self

    def shows(self):
        """Prints what came onto the screen since the last time."""
        print(self.screen.decode().replace("\r\n", "\n"), end="")
        self.screen = b""

    def signals(self, number):
        os.kill(self.process, number)
        return self

    def leaves(self):
        while self.look(time.monotonic() + DEADLINE):
            pass
        _, status = os.waitpid(self.process, 0)
        self.shows()
        print(f"=> {os.waitstatus_to_exitcode(status)}")
