# SPDX-License-Identifier: Apache-2.0
"""What asks for other programs, and need not behave: does what its arguments say, one line each.

introduce:PID[:HEARD]  a process; HEARD nanoseconds of CLOCK_BOOTTIME. Peers count from 0.
introduce:file         a descriptor that is no process's
introduce:none         no descriptor at all
two:PID                two descriptors
other:PID              a descriptor with a verb that takes none
add:PEER:NAME[:KIND]   an item, which asks for a constraint of that kind to be read
read:PEER:NAME         its secret; quiet:… without a question
password:PEER          an item of another class
by-reference:PEER      the same, by a reference of such an item
system:PEER            an item of the machine's keychain
status:PEER            the keychains that there are for it
unlock:PEER            has the keychain opened; create:PEER:NAME has one made
forbidden:PEER         a verb that is not for such programs
handle:NUMBER          what that peer's number means here
again                  a connection more of the same process; drop closes all but the newest
forget:PEER
pause                  until a line comes in
"""

import os
import sys

import wire


def main(steps):
    # Its file's group is its own from now on, as the kernel tells it of each message.
    os.setresgid(os.getegid(), os.getegid(), os.getegid())
    connections, peers = [wire.Client()], []
    for step in steps:
        verb, *words = step.split(":")
        client = connections[-1]
        if verb == "introduce":
            peers.append(introduced(client, *words))
        elif verb == "two":
            print(refused(client, wire.introduce(), [process(words[0]), process(words[0])]))
        elif verb == "other":
            print(refused(client, wire.READ_STATUS, [process(words[0])]))
        elif verb == "again":
            connections.append(wire.Client())
        elif verb == "drop":
            for old in connections[:-1]:
                old.connection.close()
            del connections[:-1]
        elif verb == "handle":
            told(client.ask(wire.READ_STATUS.relayed(int(words[0]))))
        elif verb == "watching":
            heard = client.ask(wire.WATCH)
            told(heard.hex().encode() if isinstance(heard, bytes) else heard)
        elif verb == "pause":
            print("<paused>", flush=True)
            input()
        else:
            told(asked(client, verb, peers[int(words[0])], *words[1:]))


def process(pid):
    return os.pidfd_open(int(pid))


def introduced(client, what, heard=None):
    descriptors = {"file": lambda: [os.open("/etc/hostname", os.O_RDONLY)], "none": list}.get(
        what, lambda: [process(what)])()
    try:
        client.say(wire.introduce(None if heard is None else int(heard)), passing=descriptors)
        said, _ = client.hear()
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    number = wire.refusal(said)
    if number is not None:
        told(number)
        return 0
    body = wire.body(said)
    handle = int.from_bytes(body[:8], "little")
    count, size = (int.from_bytes(body[place:place + 4], "little") for place in (8, 12))
    name = body[16:16 + size].decode() if count else "unknown"
    print(f"<{handle} {name}>", flush=True)
    return handle


def refused(client, message, descriptors):
    """The number of the refusal, and whether the connection is over then."""
    try:
        client.say(message, passing=descriptors)
        number = wire.refusal(client.hear()[0])
    except (EOFError, OSError):
        return "<hung up>"
    try:
        client.ask(wire.READ_STATUS)
    except (EOFError, OSError):
        return f"<{number}, hung up>"
    return f"<{number}, goes on>"


def asked(client, verb, peer, name="x", kind="0"):
    if verb == "add":
        message = wire.add_attributed(rights=wire.rights(int(kind)), name=name)
        return client.ask(message.relayed(peer), b"secret of " + name.encode())
    if verb in ("read", "quiet"):
        message = wire.read_attributed(name=name).within(
            wire.context(bytes(16), quiet=verb == "quiet"))
    elif verb == "password":
        message = wire.READ_ANYTHING
    elif verb == "by-reference":
        message = wire.copy(item_class=wire.ATTRIBUTED, references=[(1, bytes(16))])
    elif verb == "system":
        message = wire.read_attributed(name=name, keychain="system")
    elif verb == "status":
        client.say(wire.READ_STATUS.relayed(peer))
        said = client.hear()[0]
        return b"system" if b"system" in said else b"no system"
    elif verb == "unlock":
        message = wire.unlock_by_question()
    elif verb == "create":
        message = wire.create_by_question(name)
    elif verb == "watch":
        message = wire.WATCH
    elif verb == "forget":
        return client.ask(wire.forget(peer))
    else:
        message = wire.BEGIN_BACKUP
    return client.ask(message.relayed(peer))


def told(answer):
    print(f"<{answer.decode() or 'done'}>" if isinstance(answer, bytes) else f"<{answer}>",
          flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
