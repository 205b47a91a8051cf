# SPDX-License-Identifier: Apache-2.0
"""keychain-prompter at a terminal, this script at the other end of its conversation."""

import os
import socket

from person import Person

ASK_HIDDEN, ASK_VISIBLE, INFORMATION, ERROR, ANSWER, CANCEL, FINISHED, TITLE = range(1, 9)
PROGRAM = os.environ["PROMPTER"]


class Conversation:
    def __init__(self):
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.settimeout(120)
        self.person = Person(PROGRAM, "--conversation", passing=theirs)
        theirs.close()

    def says(self, kind, content):
        self.ours.send(bytes([kind]) + (content if isinstance(content, bytes) else content.encode()))
        return self

    def hears(self):
        message = self.ours.recv(4096)
        kinds = {ANSWER: "answer", CANCEL: "cancel"}
        print(f"<- {kinds.get(message[0], message[0])} {message[1:]!r}")


# What a program may have written can't deceive.
talk = Conversation()
talk.says(TITLE, "a\u202eb wants to read the keychain item “x”.\nIt says: “\x1b[2J”.")
talk.says(INFORMATION, "Touch \x07 it.").says(ASK_HIDDEN, "Password: ")
talk.person.sees("Password: ").types("right\n")
talk.hears()
talk.says(ERROR, "That was not right.").says(ASK_VISIBLE, "Code: ")
talk.person.sees("Code: ").types("12\x7f3é\n")
talk.hears()
talk.says(FINISHED, b"\x00")
talk.person.leaves()

# No, in both ways.
for key in "\x03", "\x04":
    talk = Conversation().says(ASK_HIDDEN, "Password: ")
    talk.person.sees("Password: ").types("abc" + key)
    talk.hears()
    talk.says(FINISHED, b"\x02")
    talk.person.leaves()

# As much as an answer may have, and more.
talk = Conversation().says(ASK_HIDDEN, "Password: ")
talk.person.sees("Password: ").types("x" * 1024 + "\n").sees("Password: ")
talk.person.types("y" * 1023 + "\n")
print(len(talk.ours.recv(4096)) - 1, "bytes")
talk.says(FINISHED, b"\x01")
talk.person.leaves()

# The other end goes away in the middle of a question; sense is expected of it.
talk = Conversation().says(ASK_HIDDEN, "Password: ")
talk.person.sees("Password: ")
talk.ours.close()
talk.person.leaves()
talk = Conversation().says(99, "what?")
talk.person.leaves()
talk = Conversation().says(ASK_HIDDEN, b"\xff\xfe")
talk.person.leaves()

Person(PROGRAM, "--socket", "/nonexistent/keychain.sock").leaves()
Person(PROGRAM, "--challenge", "12").leaves()
