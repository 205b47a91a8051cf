# SPDX-License-Identifier: Apache-2.0
"""A second program of the same user, and other users: what they try, and that they get nothing."""

import contextlib
import grp
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import wire
import world
from conftest import ALICE, BOB

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = ("get", "generic-password", "--service", "mail")
TOOLS = world.TOOLS


@pytest.fixture(scope="module", autouse=True)
def with_tools(tools):
    pass


def attack(*words, who=ALICE):
    done = world.as_user(who[0], "/usr/bin/python3", "-B", TOOLS / "attacker.py", *words)
    assert done.returncode == 0, done
    return done.stdout.strip()


@pytest.fixture
def victim(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def test_no_program_speaks_through_a_trusted_program_s_connection(victim):
    assert attack("speak_through_a_trusted_program_s_connection", "/usr/bin/sleep") == "hung up"


def test_a_program_that_becomes_another_gets_nothing_in_either_name(victim):
    # Python's, which connects; what speaks then is the shell.
    added = world.as_user(ALICE[0], "/usr/bin/python3", "-B", TOOLS / "client.py", "add:own:0")
    assert added.stdout.strip() == "<done>", added
    assert attack("read_anything") == "None"
    said = attack("become_another_program_after_connecting").split()
    assert said in ([], ["1", "0", str(wire.REFUSED_NOT_ENTITLED)])


@pytest.fixture
def guarded():
    """A program of root's that runs with a group of its own: no program of its user can take it over."""
    program = world.PREFIX / "libexec/guarded"
    shutil.copy(os.path.realpath("/usr/bin/python3"), program)
    os.chown(program, 0, grp.getgrnam("games").gr_gid)
    program.chmod(0o2755)
    world.run("gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", TOOLS / "become.so",
              pathlib.Path(__file__).with_name("become.c"))
    yield program
    program.unlink()


SPEAK = f"""import ctypes, os, sys
sys.path.insert(0, "{TOOLS}")
import wire
name, group = sys.argv[1], os.getegid()
os.setresgid(group, group, group)
if name:
    assert ctypes.CDLL("{TOOLS}/become.so").become(name.encode()) == 0
    assert os.readlink("/proc/self/exe") == name
    print(wire.Client().ask(wire.read_item("guarded", "me")))
else:
    client = wire.Client()
    client.ask(wire.add_plain_item("guarded", "me"), b"its own")
    print(client.ask(wire.read_item("guarded", "me")))
"""


def test_a_file_that_gives_rights_names_no_program_without_them(login, guarded):
    if world.as_user(ALICE[0], "unshare", "-Ur", "true").returncode != 0:
        pytest.skip("no user namespaces for users here")
    login()
    own = world.as_user(ALICE[0], guarded, "-B", "-c", SPEAK, "")
    assert own.stdout.strip() == "b'its own'", own
    seen = world.as_user(ALICE[0], "/usr/bin/python3", "-B", "-c", SPEAK, str(guarded))
    assert seen.stdout.strip() == str(wire.REFUSED_NOT_ENTITLED), seen
    # Under the name of a file that gives none it is that program, as after any other take-over.
    plain = world.as_user(ALICE[0], "/usr/bin/python3", "-B", "-c", SPEAK, "/usr/bin/sleep")
    assert plain.stdout.strip() == str(wire.REFUSED_NOT_FOUND), plain


def test_no_number_of_locks_ends_the_service(login, daemon):
    """Each of them once left two frames on the stack for the next: 6,440 of all users ended it."""
    shell = login()
    before = daemon.pid, daemon.worker(BOB[0], start=True)
    done = world.as_user(BOB[0], "/usr/bin/python3", "-B", "-c", f"""import sys
sys.path.insert(0, "{TOOLS}")
import wire
client = wire.Client()
for _ in range(8000):
    client.ask(wire.Message(wire.LOCK, wire.text(None)))
""")
    assert done.returncode == 0, done
    assert shell.run(ADD).status == 0
    assert (daemon.pid, daemon.worker(BOB[0])) == before and daemon.process.poll() is None


def test_a_bind_mount_does_not_lend_another_program_s_name(victim):
    enter = world.as_user(ALICE[0], "unshare", "-Urm", "true")
    if enter.returncode != 0:
        pytest.skip("no user namespaces for users here")
    seen = world.as_user(
        ALICE[0], "unshare", "-Urm", "sh", "-c",
        f"mount --bind /usr/bin/python3 {world.CONTROL} &&"
        f" {world.CONTROL} -B {TOOLS / 'attacker.py'} read_anything")
    assert seen.stdout.strip() == str(wire.REFUSED_NOT_ENTITLED), seen


def test_a_copy_of_a_program_is_another_program(victim):
    home = pathlib.Path(world.pwd.getpwnam(ALICE[0]).pw_dir)
    shutil.copy(world.CONTROL, home / "copy")
    found = world.as_user(ALICE[0], home / "copy", *GET)
    assert found.returncode == 3 and "s3cret" not in found.stdout


def test_a_frame_is_heard_once(victim):
    assert attack("replay_a_frame") == "first True, again False"


def test_a_frame_of_one_connection_means_nothing_on_another(victim):
    assert attack("replay_on_another_connection") == "answered False"


def test_only_the_installed_prompter_may_be_one(victim):
    assert attack("register_as_prompter") == str(wire.REFUSED_NOT_ENTITLED)
    assert attack("attach_as_prompter") == str(wire.REFUSED_NOT_ENTITLED)


def test_the_installed_prompter_knows_no_question_that_was_not_asked(victim):
    asked = victim.run(f"{world.PREFIX}/libexec/keychain/keychain-prompter --challenge " + "00" * 16)
    assert asked.status != 0


def test_a_question_is_answered_on_the_terminal_that_it_belongs_to_and_on_no_other(victim):
    # An item of the attacker's own group that asks for its user's presence.
    added = world.as_user(ALICE[0], "/usr/bin/python3", "-B", TOOLS / "client.py", "add:bank:2")
    assert added.stdout.strip() == "<done>", added
    said = attack("ask_and_answer_on_a_terminal_of_its_own",
                  f"{world.PREFIX}/libexec/keychain/keychain-prompter", "guess")
    assert "not waited for any more" in said and said.endswith("asker: 23"), said


def test_a_yes_typed_on_a_terminal_of_one_s_own_opens_nothing(victim):
    assert victim.run(ADD.replace("mail", "bank") + " --flags user-presence").status == 0
    assert attack("guess_on_a_terminal_of_its_own", str(world.CONTROL)) == "refused"


def test_no_user_traces_the_daemon(victim, daemon):
    # Nor the worker that is there for this very user.
    for pid in (daemon.pid, daemon.worker(ALICE[0])):
        assert attack("trace", str(pid)) == "Operation not permitted"
        assert world.as_user(ALICE[0], "cat", f"/proc/{pid}/environ").returncode != 0


def test_no_user_traces_the_prompter(victim):
    victim.run("(sleep 60 | script -qc 'keychainctl prompter' /dev/null >/dev/null 2>&1 &)")
    pid = world.wait_for(lambda: world.run("pgrep", "keychain-prompt", check=False).stdout.split(),
                         "the prompter to start")[0]
    assert attack("trace", pid) == "Operation not permitted"
    world.run("kill", "-KILL", pid)


def test_no_key_of_the_kernel_gives_a_program_a_secret(victim):
    got = eval(victim.run(f"/usr/bin/python3 -B {TOOLS / 'attacker.py'} read_every_key").text)
    # The ticket may be read in its own session: it opens nothing without the daemon's half.
    assert all(name.startswith("keychain:ticket") for name in got), got
    assert attack("read_every_key") == "[]"
    assert attack("read_every_key", who=BOB) == "[]"


def test_the_login_socket_is_root_s(victim):
    tried = world.as_user(ALICE[0], "/usr/bin/python3", "-B", TOOLS / "attacker.py",
                          "login_socket", world.RUN / "login.sock", "1", "0", "root", "x")
    assert tried.returncode != 0 and "Permission denied" in tried.stderr


def test_even_an_open_login_socket_hears_only_root(victim, daemon):
    os.chmod(world.RUN / "login.sock", 0o666)
    uid = str(world.pwd.getpwnam(ALICE[0]).pw_uid)
    assert attack("login_socket", str(world.RUN / "login.sock"), "3", uid, ALICE[0],
                  ALICE[1]) == "None"


def test_the_offer_socket_takes_a_user_s_own_password_only(victim):
    offers = str(world.RUN / "offer.sock")
    uid = str(world.pwd.getpwnam(ALICE[0]).pw_uid)
    victim.run("keychainctl lock")
    assert attack("login_socket", offers, "3", uid, ALICE[0], ALICE[1], who=BOB) != "accepted"
    assert attack("login_socket", offers, "1", uid, ALICE[0], ALICE[1]) != "accepted"
    assert attack("login_socket", offers, "3", uid, ALICE[0], "guess") == "accepted"
    assert victim.run("keychainctl " + " ".join(GET)).status == 4
    assert attack("login_socket", offers, "3", uid, ALICE[0], ALICE[1]) == "accepted"
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_a_login_needs_a_ticket_that_the_module_made_and_its_own_process(daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    path = str(world.RUN / "login.sock")
    forged = world.run("keyctl", "add", "user", "keychain:other", "x", "@s").stdout.strip()
    for ticket, leader in ((int(forged), os.getpid()), (2**31 - 1, os.getpid()), (0, 1)):
        said = wire.login_reply(path, wire.login_frame(
            1, uid, ticket=ticket, leader=leader, account=ALICE[0], password=ALICE[1]))
        assert said not in ("accepted", None), (ticket, leader)
    assert "made the login keychain" not in daemon.log()


def test_a_login_over_the_user_s_key_quota_goes_on_without_a_ticket(daemon):
    # What the module sends where the kernel gives it no key: the leader's life is the session's.
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    said = wire.login_reply(str(world.RUN / "login.sock"), wire.login_frame(
        1, uid, ticket=0, leader=os.getpid(), account=ALICE[0], password=ALICE[1]))
    assert said == "accepted"
    world.wait_for(lambda: any(n.startswith("unlock:-") for n in world.names_of_keys()),
                   "the unlock")


def test_a_login_under_another_account_s_name_is_refused(daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    for account, accepted in ((BOB[0], False), (ALICE[0], True)):
        said = wire.login_reply(str(world.RUN / "login.sock"), wire.login_frame(
            1, uid, ticket=0, leader=os.getpid(), account=account, password=BOB[1]))
        assert said is not None and (said == "accepted") is accepted, account


def test_a_key_that_a_user_calls_a_ticket_is_none(daemon):
    account = world.pwd.getpwnam(ALICE[0])
    planting = subprocess.Popen(
        ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups",
         "keyctl", "session", "-", "sh", "-c",
         "key=$(keyctl add user keychain:ticket x @s) && keyctl setperm $key 0x3f3f3f3f &&"
         " echo $key && exec sleep 60"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        planted = int(planting.stdout.readline())
        assert world.run("keyctl", "rdescribe", planted).stdout.endswith("keychain:ticket\n")
        said = wire.login_reply(str(world.RUN / "login.sock"), wire.login_frame(
            1, account.pw_uid, ticket=planted, leader=os.getpid(), account=ALICE[0],
            password=ALICE[1]))
        assert said not in ("accepted", None)
    finally:
        planting.kill()
        planting.wait()


@pytest.mark.parametrize("noise", [b"", b"\0" * 11, b"\xff" * 4096, b"KCF1" + b"\xff" * 36])
def test_noise_on_the_sockets_hurts_no_user(noise, victim, daemon):
    before = daemon.workers()
    for name in ("keychain.sock", "login.sock", "offer.sock"):
        with wire.connect(str(world.RUN / name)) as connection:
            if name == "keychain.sock":
                wire.hello_of(connection)
            connection.sendall(noise)
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    assert daemon.process.poll() is None and before.items() <= daemon.workers().items()


def test_a_program_of_another_version_hears_which_side_is_older(victim):
    """Of the frames; of the messages in them, the tests of the messages tell."""
    with wire.connect() as connection:
        newer = bytearray(wire.frame(wire.READ_STATUS, wire.hello_of(connection)))
        newer[4] = 2
        connection.sendall(newer)
        assert wire.refusal(wire.answer(connection)) == wire.REFUSED_OLDER_SERVICE
    path = str(world.RUN / "login.sock")
    frame = wire.login_frame(2, world.pwd.getpwnam(ALICE[0]).pw_uid, account=ALICE[0])
    assert wire.login_reply(path, frame[:4] + b"\2" + frame[5:]) == wire.LOGIN_OLDER_SERVICE
    # What is of this version and makes no sense is refused too, and not left without an answer.
    assert wire.login_reply(path, frame[:6] + b"\x63" + frame[7:]) == wire.LOGIN_BAD_REQUEST


def test_one_user_s_connections_leave_room_for_others(victim, daemon, login):
    """Each user has 32, whatever others have."""
    uid = world.number_of(BOB[0])
    # Bob's process: many connections that say nothing.
    holding = subprocess.Popen(
        ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-B",
         "-c", f"import sys, time; sys.path.insert(0, '{TOOLS}')\nimport wire\n"
         "held = [wire.connect() for _ in range(200)]; print('held', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE, text=True)
    try:
        assert holding.stdout.readline() == "held\n"
        assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    finally:
        holding.kill()
        holding.wait()


def test_one_program_s_connections_leave_room_for_the_user_s_others(victim):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    holder = subprocess.Popen(
        ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-B",
         "-c", f"import sys; sys.path.insert(0, '{TOOLS}')\nimport wire\n"
         "held = [wire.connect() for _ in range(200)]\n"
         "heard = 0\n"
         "for connection in held:\n"
         "    try:\n"
         "        wire.hello_of(connection)\n"
         "        heard += 1\n"
         "    except (EOFError, ConnectionResetError):\n"
         "        pass\n"
         "print(heard, flush=True)\n"
         "sys.stdin.read()\n"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert 4 <= int(holder.stdout.readline()) < 32
        assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    finally:
        holder.stdin.close()
        holder.wait()


def test_processes_of_one_program_leave_room_for_the_user_s_others(victim):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    holder = subprocess.Popen(
        ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-B",
         "-c", f"import os, sys; sys.path.insert(0, '{TOOLS}')\nimport wire\n"
         "reads, writes = os.pipe()\n"
         "for _ in range(40):\n"
         "    if os.fork() == 0:\n"
         "        try:\n"
         "            client = wire.Client()\n"
         "            client.ask(wire.READ_STATUS)\n"
         "            os.write(writes, b'y')\n"
         "        except BaseException:\n"
         "            os.write(writes, b'n')\n"
         "        sys.stdin.read()\n"
         "        os._exit(0)\n"
         "said = b''\n"
         "while len(said) < 40: said += os.read(reads, 40)\n"
         "print(said.count(b'y'), flush=True)\n"
         "sys.stdin.read()\n"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert 4 <= int(holder.stdout.readline()) < 32
        assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    finally:
        holder.stdin.close()
        holder.wait()


# A descriptor whose last close takes ten minutes, in a connection that is refused and in ones that
# are not: sent before the kernel knows better, or not at all where it refuses descriptors.
LINGERING = """
import array, os, socket, struct, sys, time
def lingering():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    mine = socket.create_connection(listener.getsockname())
    other, _ = listener.accept()
    mine.setblocking(False)
    try:
        while True:
            mine.send(b"x" * 65536)
    except BlockingIOError:
        pass
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
    return listener, mine, other
reads, writes = os.pipe()
for _ in range(60):
    if os.fork() == 0:
        listener, mine, other = lingering()
        said = b"refused"
        try:
            s = wire.connect()
            said = b"sent..."
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [mine.fileno()]))
            s.sendmsg([b"x"], [rights])
        except OSError:
            said = b"refused"
            mine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
        mine.close()
        os.write(writes, said)
        sys.stdin.read()
        os._exit(0)
said = b""
while len(said) < 60 * 7:
    said += os.read(reads, 7)
print("done", flush=True)
sys.stdin.read()
"""


def kernel_stacks(daemon):
    """Where in the kernel each thread of the daemon and of its workers is."""
    for pid in daemon.processes():
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            try:
                yield (task / "stack").read_text()
            except (FileNotFoundError, ProcessLookupError):
                # It ended in between.
                continue


def test_a_descriptor_whose_close_takes_long_holds_up_no_other_user(victim, daemon, login):
    other = login(BOB)
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    holder = subprocess.Popen(
        ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-B",
         "-c", f"import sys; sys.path.insert(0, '{TOOLS}')\nimport wire\n{LINGERING}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline().strip() == "done"
        assert other.run("timeout 20 keychainctl status").status == 0
        assert not [stack for stack in kernel_stacks(daemon) if "tcp_close" in stack]
    finally:
        holder.stdin.close()
        holder.wait()


def speak_as(uid, body):
    """Runs `body` in a process of that user, and returns what it printed."""
    done = world.run("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
                     "/usr/bin/python3", "-B", "-c",
                     f"import sys; sys.path.insert(0, '{TOOLS}')\nimport wire\n{body}")
    return done.stdout.split()


@contextlib.contextmanager
def in_little_memory(daemon, who, most=200 * 1024):
    """What the user does meanwhile costs neither keychaind nor the user's worker more KiB than that,
    and ends neither."""
    before = daemon.worker(who[0], start=True)
    yield
    assert daemon.worker(who[0]) == before and daemon.process.poll() is None
    for pid in (daemon.pid, before):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < most, status


def test_user_numbers_without_an_account_have_one_user_s_share_together(victim, daemon):
    held = []
    try:
        for number in range(3_000_000, 3_000_100):
            os.seteuid(number)
            try:
                connection = wire.connect()
            finally:
                os.seteuid(0)
            held.append(connection)
        heard = 0
        for connection in held:
            try:
                wire.hello_of(connection)
                heard += 1
            except (EOFError, ConnectionResetError):
                pass
        assert heard <= 32, heard
        assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    finally:
        for connection in held:
            connection.close()


def test_a_user_without_an_account_is_told_to_have_no_keychain(daemon):
    said = speak_as(3_000_000, """
with wire.connect() as connection:
    hello = wire.hello_of(connection)
    connection.sendall(wire.frame(wire.READ_ANYTHING, hello))
    print(wire.refusal(wire.answer(connection)))
""")
    assert said == [str(wire.REFUSED_NOT_ENTITLED)]


def test_a_user_who_announces_much_and_sends_slowly_takes_no_memory_from_others(victim, daemon):
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    with in_little_memory(daemon, BOB):
        said = speak_as(uid, """
import struct, time
held = []
# As many as one program may have.
for _ in range(24):
    connection = wire.connect()
    hello = wire.hello_of(connection)
    header = struct.pack("<4sHHIIQ", b"KCF1", 1, 0, 4, 32 * 1024 * 1024, 1) + hello[8:24]
    connection.sendall(header + b"none")
    connection.setblocking(False)
    held.append(connection)
end = time.monotonic() + 4
while time.monotonic() < end and held:
    for connection in list(held):
        try:
            connection.send(bytes(256 * 1024))
        except BlockingIOError:
            pass
        except OSError:
            held.remove(connection)
print("sent")
""")
    assert said == ["sent"]
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_numbers_without_an_account_leave_nothing_in_the_audit(daemon):
    # A user with a range of numbers has thousands of them (/etc/subuid).
    for number in range(3_000_000, 3_000_003):
        said = speak_as(number, f"""
print(wire.login_reply('{world.RUN}/offer.sock', wire.login_frame(
    3, {number}, account='{ALICE[0]}', password='x')) == 'accepted')
""")
        assert said == ["False"]
    daemon.stop()
    assert '"user":30000' not in world.audit_text()


def test_a_user_makes_no_keychain_of_the_machine_s_name_and_adds_to_none(daemon):
    account = world.pwd.getpwnam(ALICE[0])
    said = speak_as(account.pw_uid, """
client = wire.Client()
print(client.ask(wire.create_keychain('system'), b'password'))
print(client.ask(wire.default_keychain('system')))
""")
    assert said == [str(wire.REFUSED_DUPLICATE_KEYCHAIN), str(wire.REFUSED_READ_ONLY)]
    assert not (world.STATE / str(account.pw_uid) / "system.keychain").exists()


def test_no_limit_of_a_search_ends_the_daemon(daemon, login):
    login()
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    said = speak_as(uid, """
client = wire.Client()
client.ask(wire.add_item('mail', 0), b's3cret')
for limit in (1 << 63, (1 << 64) - 1, (1 << 63) - 1, 0):
    # Leave out what needs a question: such a search is not cut short.
    wire.Client().ask(wire.copy(limit=limit, ui=2))
print(client.ask(wire.read_item('mail')).decode())
""")
    assert said == ["s3cret"]


def test_small_things_by_the_hundred_thousand_take_no_memory_from_others(daemon):
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    with in_little_memory(daemon, BOB):
        said = speak_as(uid, r"""
clients = [wire.Client() for _ in range(12)]
for client in clients:
    try:
        client.say(wire.copy(found=wire.number(100_000) + bytes(4) + b"\x02" + bytes(9 * 100_000)))
    except OSError:
        pass
for client in clients:
    try:
        assert wire.refusal(client.hear()[0]) is not None
    except (EOFError, OSError):
        pass
print("sent")
""")
    assert said == ["sent"]


def test_a_user_who_reads_large_attributes_slowly_takes_no_memory_from_others(
        victim, login, daemon):
    login(BOB)
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    with in_little_memory(daemon, BOB):
        said = speak_as(uid, """
import time
COUNT = 48
found = wire.attributes(svce="large")
filler = wire.Client()
for number in range(COUNT):
    item = wire.new_item(
        wire.attributes(svce="large", acct=str(number), icmt="x" * 1_000_000))
    assert filler.ask(wire.add(item), b"s") == b""
readers = [wire.Client() for _ in range(20)]
for reader in readers:
    # Attributes, all of them: then many at once.
    limit = None if readers.index(reader) % 2 else 200
    reader.say(wire.copy(found=found, limit=limit, parts=2))
    reader.connection.setblocking(False)
end = time.monotonic() + 6
while time.monotonic() < end:
    for reader in readers:
        try:
            reader.connection.recv(64 * 1024)
        except OSError:
            pass
    time.sleep(0.05)
for reader in readers:
    reader.connection.close()
print("read")
# What a program reads as it should still comes whole, and is changed at once.
count, more = 0, True
filler.say(wire.copy(found=found, parts=2))
while more:
    said, _ = filler.hear()
    assert wire.refusal(said) is None, wire.refusal(said)
    count, more = count + said.count(b"x" * 1_000_000), wire.continues(said)
print(count)
print(filler.ask(wire.update(found, wire.attributes(labl="new"))))
""")
    assert said == ["read", "48", "b''"], said
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_large_changes_at_once_and_slow_readers_take_no_memory_from_others(victim, login, daemon):
    login(BOB)
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    with in_little_memory(daemon, BOB):
        said = speak_as(uid, """
import os, time
found = wire.attributes(svce="large")
filler = wire.Client()
for number in range(40):
    item = wire.new_item(
        wire.attributes(svce="large", acct=str(number), icmt="x" * 1_000_000))
    assert filler.ask(wire.add(item), b"s") == b""
children = []
for number in range(20):
    child = os.fork()
    if child == 0:
        client = wire.Client()
        client.connection.settimeout(12)
        try:
            if number % 2:
                client.say(wire.copy(found=found, parts=2))
                for _ in range(20):
                    client.connection.recv(60_000)
                    time.sleep(0.2)
            else:
                change = wire.attributes(desc="y" * 1000 + str(number))
                client.say(wire.update(found, change))
                client.hear()
        except (EOFError, OSError):
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print("over")
""")
    assert said == ["over"], said
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_what_a_flood_of_refusals_leaves_in_the_audit_is_short(victim, daemon):
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    speak_as(uid, """
with wire.connect() as connection:
    hello = wire.hello_of(connection)
    for number in range(1, 2000):
        connection.sendall(wire.frame(wire.READ_FROM_NOWHERE, hello, number))
        assert wire.refusal(wire.answer(connection)) is not None
""")
    daemon.stop()
    lines = world.audit_text().splitlines()
    assert sum(f'"user":{uid}' in line for line in lines) < 70


def test_one_user_s_records_push_out_no_other_s(victim, daemon):
    """Refusals that are recorded in full, with names as long as a request may be."""
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    mine = f'"user":{world.pwd.getpwnam(ALICE[0]).pw_uid}'
    speak_as(uid, """
for number in range(200):
    client = wire.Client()
    item = wire.new_item(wire.attributes(svce='s' * 40_000), group='g' * 40_000)
    client.ask(wire.add(item), b'x')
""")
    daemon.stop()
    text = world.audit_text()
    assert mine in text
    written = [line for line in text.splitlines() if f'"user":{uid}' in line]
    assert written and sum(map(len, written)) < 300 * 1024
    assert max(map(len, written)) < 16 * 1024


def test_a_list_tells_of_no_file_that_its_user_may_not_see(victim):
    there = world.STATE / "0/system.keychain"
    world.wait_for(there.exists, "the system's keychain")
    paths = (there, there.parent / "nothing", "/usr/bin/true", "/usr/bin/nothing")
    told = victim.run(f"/usr/bin/python3 -B {TOOLS}/attacker.py strengths_of "
                      + " ".join(map(str, paths)))
    assert told.text.strip() == "[1, 1, 2, 1]"


@pytest.mark.parametrize("options, strength", [("", 2), ("nosuid", 1)])
def test_a_file_system_that_a_user_brought_makes_no_file_root_s(
        options, strength, victim, daemon):
    """As desktops mount them."""
    place = pathlib.Path("/mnt")
    for pid in (os.getpid(), daemon.pid, daemon.worker(ALICE[0])):
        assert os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
    world.run("mount", "-t", "tmpfs", "-o", "mode=0755" + (options and f",{options}"), "x", place)
    try:
        shutil.copy("/usr/bin/true", place / "true")
        told = victim.run(f"/usr/bin/python3 -B {TOOLS}/attacker.py strengths_of {place}/true")
        assert told.text.strip() == f"[{strength}]"
    finally:
        world.run("umount", place)


@pytest.mark.parametrize("words", ["unlock", "add generic-password --service x"])
def test_no_secret_goes_to_a_listener_that_is_not_root_s(words, victim):
    folder = world.pathlib.Path("/run/home/false-daemon")
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    said = attack("asked_of_a_false_daemon", folder / "socket", str(world.CONTROL),
                  *words.split())
    assert said == "0 bytes, then 1"


@pytest.mark.parametrize("program", ["keychaind", "keychain-worker"])
def test_a_program_that_is_killed_says_by_what_and_nothing_else(program, daemon):
    daemon.worker(ALICE[0], start=True)
    before = daemon.log()
    if program == "keychaind":
        daemon.process.send_signal(world.signal.SIGILL)
        assert daemon.process.wait(world.PATIENCE) == -world.signal.SIGILL
    else:
        daemon.kill_worker(ALICE[0], world.signal.SIGILL)
    # Other lines may still come in between.
    lines = daemon.log().removeprefix(before).splitlines()
    told, = [line for line in lines if "crashed" in line or "at +0x" in line]
    # The kernel chooses the thread that is told, which may wait in a library.
    assert re.fullmatch(
        program + ": crashed by signal 4, (at( [+]0x[0-9a-f]+)+|in a library)", told)
