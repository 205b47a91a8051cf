# SPDX-License-Identifier: Apache-2.0
"""keychainctl at a terminal."""

import os
import signal

from person import Person

mail = ("generic-password", "--service", "mail")

Person("keychainctl", "add", *mail).sees("Secret: ").types("correct horse\r").leaves()
Person("keychainctl", "get", *mail).leaves()

# Backspace takes a whole character back, Ctrl-U the line.
change = Person("keychainctl", "update", *mail, "--new-secret")
change.sees("New secret: ").types("wrong\x15ü\x7fstaple\x7f\x7fles\n").leaves()
Person("keychainctl", "get", *mail).leaves()

# Ctrl-C, Ctrl-D, too much of it.
Person("keychainctl", "update", *mail, "--new-secret").sees("secret: ").types("x\x03").leaves()
Person("keychainctl", "update", *mail, "--new-secret").sees("secret: ").types("x\x04").leaves()
Person("keychainctl", "update", *mail, "--new-secret").sees("secret: ").types("x" * 1024 + "\n").leaves()
Person("keychainctl", "get", *mail).leaves()

# A signal leaves the terminal as it was.
ended = Person("keychainctl", "update", *mail, "--new-secret").sees("secret: ")
ended.signals(signal.SIGTERM)
ended.sees("\n")
print("echo restored" if ended.echoes() else "the terminal no longer echoes")
ended.leaves()

# A new password is typed twice.
new = Person("keychainctl", "set-password").sees("New password").types("one\n")
new.sees("again: ").types("two\n").leaves()
new = Person("keychainctl", "set-password").sees("New password").types("one\n")
new.sees("again: ").types("one\n").leaves()
new = Person("keychainctl", "set-password").sees("Current password").types("not it\n")
new.sees("New password").types("two\n").sees("again: ").types("two\n").leaves()
Person("keychainctl", "unlock").sees("Password").types("one\n").leaves()

# Items are a table here, and set says what became of them.
Person("keychainctl", "set", "mail/you").sees("Secret: ").types("x\r").leaves()
Person("keychainctl", "set", "mail/you", "--generate").leaves()
os.environ["TERM"] = "xterm"
Person("sh", "-c", "keychainctl list | sed 's/^/piped: /'").leaves()
Person("sh", "-c", "keychainctl search you; NO_COLOR=1 keychainctl search you").leaves()
