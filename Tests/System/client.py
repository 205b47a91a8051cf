# SPDX-License-Identifier: Apache-2.0
"""A program with authentication contexts: does what its arguments say, one line each.

add:SERVICE:KIND       an item that asks for a constraint of that kind to be read
read:SERVICE:NAME      read it in the context of that name; quiet:… without a question
child:SERVICE:NAME     the same in a child, which knows the context's identifier
prove:KIND:NAME        ask for a constraint of that kind in the context of that name
adopt:PAPER            add that recovery key to the keychain, with nothing that opens it
backup:NAME            ask for a copy of the keychain, in the context of that name
able                   what could be proven: passcode, presence, biometry, companion, interaction
end:NAME               the context ends
pause                  until a line comes in
fill:SERVICE:COUNT     that many items of a mebibyte each that ask for nothing
slow:SERVICE           read all of them; from the answer's beginning on only after a line has come in
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
            told(client.ask(
                wire.authenticate(int(words[0])).within(wire.context(identifier(words[1])))))
        elif verb == "adopt":
            told(client.ask(wire.ADD_RECOVERY_KEY_UNASKED, words[0].encode()))
        elif verb == "backup":
            told(client.ask(wire.BEGIN_BACKUP.within(wire.context(identifier(words[0])))))
        elif verb == "able":
            client.say(wire.READ_CAPABILITIES)
            known = wire.body(client.hear()[0])
            print("<" + " ".join(str(known[place]) for place in range(5)) + ">", flush=True)
        elif verb == "fill":
            for number in range(int(words[1])):
                client.ask(wire.add_item(words[0], 0, str(number)), bytes(1 << 20))
            print("<filled>", flush=True)
        elif verb == "slow":
            slow(client, words[0])
        elif verb == "end":
            client.ask(wire.END_CONTEXT.within(wire.context(identifier(words[0]))))
            print("ended", flush=True)
        else:
            print("paused", flush=True)
            input()


def identifier(name):
    return hashlib.sha256(f"{name} {os.getenv('RUN', '')}".encode()).digest()[:16]


def read(client, service, name, *, quiet):
    context = wire.context(identifier(name), quiet=quiet)
    return client.ask(wire.read_item(service).within(context))


def slow(client, service):
    client.say(wire.read_all(service))
    said, _ = client.hear()
    print("<begun>", flush=True)
    input()
    count = 1
    while said and wire.refusal(said) is None and wire.continues(said):
        said, _ = client.hear()
        count += 1
    told(wire.refusal(said) or f"all in {count}".encode())


def told(answer):
    print(f"<{answer.decode() or 'done'}>" if isinstance(answer, bytes) else f"<{answer}>",
          flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
