# SPDX-License-Identifier: Apache-2.0
"""A prompter that has the group and need not behave. Its words say how, and what it would answer."""

import os
import sys
import time

import wire

ASK, CHOOSE, CONFIRM = (1, 2, 9), 7, 8


def main(how, password):
    prompter = registered(how)
    if how == "early":
        prompter.say(wire.prompt_reply(True), password)
    try:
        while True:
            kind = wire.prompt_kind(prompter.hear()[0])
            if kind == CHOOSE:
                print("<to choose>", flush=True)
                # The choice of that name, and the password when it is asked for.
                prompter.say(wire.prompt_reply(True), how.encode())
            if kind in ASK or kind == CONFIRM:
                print("<asked>", flush=True)
                behave(how, prompter, password)
    except (EOFError, OSError):
        if how == "late":
            late(prompter, password)
        print("<hung up>", flush=True)


def registered(how):
    prompter = wire.Client()
    answer = prompter.ask(wire.register_prompter(windows=how == "windows"))
    print("<registered>" if answer == b"" else f"<refused {answer}>", flush=True)
    return prompter


def behave(how, prompter, password):
    if how == "dies":
        os._exit(1)
    elif how == "twice":
        prompter.say(wire.prompt_reply(True), b"wrong")
        prompter.say(wire.prompt_reply(True), password)
    elif how == "speaks":
        prompter.say(wire.READ_ANYTHING)
    elif how == "shouts":
        prompter.say(wire.prompt_reply(True), b"x" * 2000)
    elif how == "rambles":
        prompter.connection.sendall(os.urandom(4096))
    elif how == "lies":
        prompter.say(wire.prompt_reply(True))
    elif how == "refuses":
        prompter.say(wire.prompt_reply(False))
    elif how == "yes":
        prompter.say(wire.prompt_reply(True), b"")
    elif how in ("slow", "tardy"):
        if how == "tardy":
            # A call over the Secret Service is answered within 20 seconds.
            time.sleep(21)
        else:
            while not os.path.exists(os.path.join(os.path.dirname(__file__), "answers")):
                time.sleep(0.05)
        prompter.say(wire.prompt_reply(True), password)
    elif how in ("honest", "windows", "always", "once", "everything"):
        prompter.say(wire.prompt_reply(True), password)
    elif how == "waits":
        pass


def late(prompter, password):
    """The answer comes when the daemon has stopped waiting for it."""
    try:
        prompter.say(wire.prompt_reply(True), password)
    except OSError:
        pass
    registered("late").say(wire.prompt_reply(True), password)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].encode())
