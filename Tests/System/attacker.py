# SPDX-License-Identifier: Apache-2.0
"""What a hostile program of the same user tries. Each prints one line: what it got."""

import ctypes
import os
import pty
import select
import sys
import time

import wire

GET = ("get", "generic-password", "--service", "bank")


def speak_through_a_trusted_program_s_connection(program):
    """A child connects and becomes the trusted program; the parent speaks on its descriptor."""
    connection = wire.socket.socket(wire.socket.AF_UNIX)
    connection.settimeout(8)
    connection.set_inheritable(True)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        connection.connect(wire.SOCKET)
        os.write(tell, b"x")
        os.execv(program, [program, "60"])
    os.read(ready, 1)
    hello = wire.hello_of(connection)
    connection.sendall(wire.frame(wire.READ_STATUS, hello))
    said = wire.answer(connection)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hung up" if said == b"" else f"answered {said!r}"


def become_another_program_after_connecting():
    """The daemon sees one program connect and another, in the same process, ask."""
    connection = wire.connect()
    hello = wire.hello_of(connection)
    time.sleep(0.3)
    text = "".join(f"\\x{byte:02x}" for byte in wire.frame(wire.READ_ANYTHING, hello))
    os.set_inheritable(connection.fileno(), True)
    script = (f"printf '{text}' >&{connection.fileno()};"
              f" timeout 3 head -c 45 <&{connection.fileno()} | tail -c 3 | od -An -tu1")
    os.execv("/bin/bash", ["bash", "-c", script])


def read_anything():
    connection = wire.connect()
    connection.sendall(wire.frame(wire.READ_ANYTHING, wire.hello_of(connection)))
    return wire.refusal(wire.answer(connection))


def replay_a_frame():
    connection = wire.connect()
    hello = wire.hello_of(connection)
    same = wire.frame(wire.READ_STATUS, hello)
    connection.sendall(same)
    first = wire.answer(connection)
    connection.sendall(same)
    return f"first {len(first) > 0}, again {len(wire.answer(connection)) > 0}"


def replay_on_another_connection():
    old = wire.hello_of(wire.connect())
    connection = wire.connect()
    wire.hello_of(connection)
    connection.sendall(wire.frame(wire.READ_STATUS, old))
    return f"answered {len(wire.answer(connection)) > 0}"


def register_as_prompter():
    connection = wire.connect()
    connection.sendall(wire.frame(wire.REGISTER_PROMPTER, wire.hello_of(connection)))
    return wire.refusal(wire.answer(connection))


def attach_as_prompter():
    connection = wire.connect()
    connection.sendall(wire.frame(wire.attach_prompter(bytes(16)), wire.hello_of(connection)))
    return wire.refusal(wire.answer(connection))


def ask_and_answer_on_a_terminal_of_its_own(prompter, guess):
    """Asks from one terminal, and has the installed prompter answer on another one, where it types."""
    child, terminal = pty.fork()
    if child:
        return read_all(terminal)
    asking = wire.Client()
    asking.say(wire.read_item("bank").within(wire.context(b"x" * 16)).offering())
    said = asking.hear()[0]
    if wire.challenge(said) is None:
        print(f"refused {wire.refusal(said)}", flush=True)
        os._exit(0)
    child, other = pty.fork()
    if child == 0:
        os.execv(prompter, [prompter, "--challenge", wire.challenge(said).hex()])
    try:
        os.write(other, guess.encode() + b"\nyes\n")
    except OSError:
        pass
    shown = read_all(other)
    answer = asking.hear()[0]
    print(f"prompter: {shown.strip()}; asker: {wire.refusal(answer)}", flush=True)
    os._exit(0)


def offer_a_terminal(service):
    """Asks for an item by its whole name, and gives up at the first answer."""
    asking = wire.Client()
    asking.say(wire.read_item(service, "me").offering())
    said = asking.hear()[0]
    return "told to start a prompter" if wire.challenge(said) else f"refused {wire.refusal(said)}"


def read_all(terminal):
    said = b""
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass
    return said.decode(errors="replace").strip()


def guess_on_a_terminal_of_its_own(program):
    """Starts a trusted program on a terminal of its own, and answers its question with a yes."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(program, [program, *GET])
    said = b""
    for answer in b"yes\n", b"\n", b"y\n":
        while not said.endswith(b"assword: "):
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            said += part
        os.write(terminal, answer)
        said += b"|"
    said += read_all(terminal).encode()
    return "opened" if b"s3cret" in said else "refused"


def strengths_of(*paths):
    """How well guarded the service says that each file is, once a list names it."""
    told = []
    for number, path in enumerate(paths):
        client = wire.Client()
        name = wire.block("exe:" + path)
        item = wire.new_item(
            wire.attributes(svce=f"spy{number}", acct="me"), trusted=wire.number(1) + name)
        added = client.ask(wire.add(item), b"x")
        if added != b"":
            return f"refused {added}"
        client.say(wire.read_item(f"spy{number}", parts=2))
        message, _ = client.hear()
        # The strength stands behind the name.
        told.append(message[message.index(name) + len(name)])
    return told


def accept_or_type(listener, terminal, answer):
    """The first connection, while each prompt on the terminal is answered; None where none comes."""
    while True:
        ready, _, _ = select.select([listener, terminal], [], [], 20)
        if listener in ready:
            return listener.accept()[0]
        if terminal not in ready:
            return None
        try:
            said = os.read(terminal, 4096)
        except OSError:
            return None
        if said.rstrip().endswith(b":"):
            os.write(terminal, answer)


def asked_of_a_false_daemon(path, program, *words):
    """What a program sends to a listener of its own user's that its environment names."""
    if os.path.exists(path):
        os.unlink(path)
    listener = wire.socket.socket(wire.socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["KEYCHAIN_SOCKET"] = path
        os.execv(program, [program, *words])
    connection = accept_or_type(listener, terminal, b"my password\n")
    if connection is None:
        return "never asked"
    connection.settimeout(8)
    got = b""
    try:
        connection.sendall(b"KCHELLO1" + bytes(16))
        while part := connection.recv(4096):
            got += part
    except (ConnectionResetError, BrokenPipeError):
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"{len(got)} bytes, then {status}"


def trace(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    attached = libc.ptrace(16, int(pid), 0, 0)
    return "attached" if attached == 0 else os.strerror(ctypes.get_errno())


def read_every_key():
    """Every key that /proc/keys shows and the kernel lets this user read."""
    libkeyutils = ctypes.CDLL("libkeyutils.so.1")
    got = []
    for line in open("/proc/keys"):
        serial, kind = int(line.split()[0], 16), line.split()[7]
        if kind != "user":
            continue
        buffer = ctypes.create_string_buffer(32768)
        length = libkeyutils.keyctl_read(ctypes.c_int32(serial), buffer, 32768)
        if length >= 0:
            got.append(line.split(maxsplit=8)[8].strip())
    return got


def login_socket(path, verb, uid, account, password):
    return wire.login_reply(path, wire.login_frame(int(verb), int(uid), account=account,
                                                   password=password, leader=os.getpid()))


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))
