# SPDX-License-Identifier: Apache-2.0
"""A program with authentication contexts: does what its arguments say, one line each.

add:SERVICE:KIND       an item that asks for a constraint of that kind to be read
read:SERVICE:NAME      read it in the context of that name; quiet:… where nobody may be asked
child:SERVICE:NAME     the same in a child, which knows the context's identifier
prove:KIND:NAME        ask for a constraint of that kind in the context of that name
able                   what could be proven: passcode, presence, biometry, companion, interaction
end:NAME               the context ends
pause                  until a line comes in
"""

import hashlib
import os
import sys

import wire


def main(steps):
    client = wire.Client()
    for step in steps:
        verb, *words = step.split(":")
        if verb == "add":
            told(client.ask(wire.add_item(words[0], int(words[1])), b"s3cret"))
        elif verb in ("read", "quiet"):
            told(read(client, *words, quiet=verb == "quiet"))
        elif verb == "child":
            child = os.fork()
            if child == 0:
                told(read(wire.Client(), *words, quiet=True))
                os._exit(0)
            os.waitpid(child, 0)
        elif verb == "prove":
            told(client.ask(wire.context(identifier(words[1])) + wire.authenticate(int(words[0]))))
        elif verb == "able":
            client.say(wire.CAPABILITIES)
            known = wire.fields(wire.fields(wire.fields(client.hear()[0])[2])[5])
            print("<" + " ".join(str(known.get(number, 0)) for number in range(1, 6)) + ">",
                  flush=True)
        elif verb == "end":
            client.ask(wire.context(identifier(words[0])) + wire.END_CONTEXT)
            print("ended", flush=True)
        else:
            print("paused", flush=True)
            input()


def identifier(name):
    return hashlib.sha256(f"{name} {os.getenv('RUN', '')}".encode()).digest()[:16]


def read(client, service, name, *, quiet):
    context = wire.context(identifier(name), quiet=quiet)
    return client.ask(context + wire.read_item(service))


def told(answer):
    print(f"<{answer.decode() or 'done'}>" if isinstance(answer, bytes) else f"<{answer}>",
          flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
