# SPDX-License-Identifier: Apache-2.0
"""How the daemon starts and stops."""

import fcntl
import os
import re
import socket
import stat
import subprocess
import time

import world
from conftest import ALICE, BOB

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
PROGRAM = world.PREFIX / "sbin/keychaind"
SOCKETS = ("keychain.sock", "login.sock", "offer.sock")


def start_and_fail(*arguments, **options):
    """What a daemon says that does not start, and its exit status."""
    done = subprocess.run([PROGRAM, "--foreground", *map(str, arguments)], text=True, timeout=world.PATIENCE,
                          capture_output=True, **options)
    return done.returncode, done.stdout + done.stderr


def test_sigterm_ends_it_cleanly_and_takes_its_sockets_back(daemon):
    assert daemon.stop() == 0
    assert any(line.endswith("stopped") for line in daemon.log().splitlines())
    assert not any((world.RUN / name).exists() for name in SOCKETS)


def test_sigterm_lets_a_question_be_answered_and_serves_all_meanwhile(login, daemon):
    asked, other = login(), login(BOB)
    assert asked.run(ADD + " --flags user-presence").status == 0
    assert other.run(ADD).status == 0
    asks(asked)
    daemon.process.terminate()
    time.sleep(1)
    assert other.run(GET).text.strip() == "s3cret"
    # A question that came later is not waited for.
    later = login()
    asks(later)
    assert daemon.process.poll() is None
    asked.terminal.sendline(ALICE[1])
    asked.terminal.expect("s3cret\r\n<status 0>")
    assert daemon.process.wait(world.PATIENCE) == 0
    later.terminal.expect(r"<status (\d+)>")
    assert later.terminal.match.group(1) != "0"


def test_a_second_sigterm_waits_for_no_question(login, daemon):
    asked = login()
    assert asked.run(ADD + " --flags user-presence").status == 0
    asks(asked)
    daemon.process.terminate()
    time.sleep(1)
    assert daemon.process.poll() is None
    began = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - began < 15
    asked.terminal.expect(r"<status (\d+)>")


def asks(shell):
    shell.send(GET + "; echo \"<status $?>\"")
    shell.terminal.expect("(?m)assword: ?$")


def test_its_log_begins_with_the_time_and_for_the_journal_with_the_urgency(daemon):
    daemon.worker(0, start=True)
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:]{8}Z (keychaind|keychain-worker): ", line)
               for line in daemon.log().splitlines() if not line.startswith("/")), daemon.log()
    daemon.stop()
    log = daemon.log_path.stat()
    before = daemon.log()
    daemon.start(environment={"JOURNAL_STREAM": f"{log.st_dev}:{log.st_ino}"})
    lines = daemon.log().removeprefix(before).splitlines()
    assert lines and all(line.startswith("<6>") for line in lines), lines
    # Output that leads elsewhere is no journal.
    daemon.stop()
    before = daemon.log()
    daemon.start(environment={"JOURNAL_STREAM": f"{log.st_dev}:{log.st_ino + 1}"})
    assert "<6>" not in daemon.log().removeprefix(before)


def test_its_sockets_are_open_to_whom_they_are_for(daemon):
    modes = [stat.S_IMODE((world.RUN / name).stat().st_mode) for name in SOCKETS]
    assert modes == [0o666, 0o600, 0o666]


def test_after_a_kill_it_starts_again_over_what_was_left(login, daemon):
    shell = login()
    shell.run(ADD)
    daemon.stop(world.signal.SIGKILL)
    assert (world.RUN / "keychain.sock").exists()
    daemon.start()
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_second_daemon_leaves_the_first_alone(login, daemon):
    status, words = start_and_fail()
    assert status == 1 and "another daemon is listening" in words
    assert login().run(ADD).status == 0


def test_it_runs_as_root_only():
    refused = world.as_user(ALICE[0], PROGRAM, "--foreground")
    assert refused.returncode == 1 and "must run as root" in refused.stdout + refused.stderr


def test_it_leaves_no_core_and_lets_no_user_look_into_it(daemon):
    # Not even into the worker that is the user's own.
    for pid in (daemon.pid, daemon.worker(ALICE[0], start=True)):
        limits = world.pathlib.Path(f"/proc/{pid}/limits").read_text()
        core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        assert core.split()[4:6] == ["0", "0"]
        for file in ("mem", "environ", "maps"):
            assert world.as_user(ALICE[0], "cat", f"/proc/{pid}/{file}").returncode != 0


def test_an_idle_daemon_holds_no_secret_of_an_open_keychain(login, daemon):
    shell = login()
    shell.run("printf find-me-if-you-can | keychainctl add generic-password --service mail")
    assert "find-me" in shell.run("keychainctl get generic-password --service mail").text
    # Root's worker may end at any time.
    for pid in daemon.pid, daemon.worker(ALICE[0]):
        memory = memory_of(pid)
        assert memory.count(b"find-me-if-you-can") == 0
        assert memory.count(ALICE[1].encode()) == 0
        # The search finds what is there: the daemon's own path.
        assert memory.count(str(world.STATE).encode()) > 0


def memory_of(pid):
    """All that the process has mapped and may read, as root sees it."""
    parts = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            span, rights = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if "r" not in rights or "[v" in line:
                continue
            try:
                memory.seek(start)
                parts.append(memory.read(end - start))
            except OSError:
                pass
    return b"".join(parts)


def test_it_takes_over_systemd_s_sockets_and_leaves_them(login, daemon):
    """By systemd's protocol, with the names and modes of the units in packaging."""
    daemon.stop()
    listening = [listen(world.RUN / name, mode)
                 for name, mode in zip(SOCKETS, (0o666, 0o600, 0o666))]
    with (world.listening("keychain-broker", world.RUN / "broker.sock"),
          world.listening("keychain-starter", world.RUN / "starter.sock"),
          world.listening("keychain-worker", world.RUN / "worker.sock")):
        try:
            process = start_with(listening, "keychain:login:offer")
            # The login finds the sockets before the daemon is ready, and waits for it.
            shell = login()
            assert shell.run(ADD).status == 0
            assert shell.run(GET).text.strip() == "s3cret"
            process.terminate()
            assert process.wait(world.PATIENCE) == 0
            world.wait_for(lambda: not world.workers(), "the workers to end")
            # Its successor finds them, and all that was unlocked.
            process = start_with(listening, "keychain:login:offer")
            assert shell.run(GET).text.strip() == "s3cret"
            process.terminate()
            assert process.wait(world.PATIENCE) == 0
            assert all((world.RUN / name).exists() for name in SOCKETS)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for name, each in zip(SOCKETS, listening):
                each.close()
                (world.RUN / name).unlink()


def listen(path, mode):
    each = socket.socket(socket.AF_UNIX)
    each.bind(str(path))
    os.chmod(path, mode)
    each.listen(256)
    return each


def start_with(sockets, names):
    """As a service manager does it: descriptors from 3 on, and whom they are for."""
    # Out of the way first: a descriptor may have another's place.
    high = [fcntl.fcntl(each.fileno(), fcntl.F_DUPFD, 100) for each in sockets]
    moves = " ".join(f"{3 + index}<&{number} {number}<&-" for index, number in enumerate(high))
    process = subprocess.Popen(
        ["bash", "-c", f'LISTEN_PID=$$ exec "$0" --foreground {moves}', PROGRAM],
        pass_fds=high, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": names})
    for number in high:
        os.close(number)
    return process


def test_it_tells_systemd_when_it_is_ready_and_when_it_stops(daemon, tmp_path):
    daemon.stop()
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        heard.settimeout(world.PATIENCE)
        process = subprocess.Popen([PROGRAM, "--foreground"], stderr=subprocess.DEVNULL,
                                   env={"NOTIFY_SOCKET": str(path)})
        try:
            assert said_to_systemd(heard) == b"READY=1"
            # Ready means that it can be spoken to.
            assert all(world.accepts(world.RUN / name) for name in SOCKETS)
            process.terminate()
            assert said_to_systemd(heard) == b"STOPPING=1"
            assert process.wait(world.PATIENCE) == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def said_to_systemd(heard):
    """The next but what systemd is to keep for users who have something open."""
    said = heard.recv(200)
    while said.startswith(b"FDSTORE"):
        said = heard.recv(200)
    return said


def test_a_state_folder_that_others_can_write_to_is_refused_in_words(daemon):
    daemon.stop()
    os.chmod(world.STATE, 0o777)
    try:
        status, said = start_and_fail()
    finally:
        os.chmod(world.STATE, 0o755)
    assert status == 1 and str(world.STATE) in said and "no other user can write" in said


def test_a_device_key_that_is_none_is_refused_and_left_alone(daemon):
    daemon.stop()
    key = world.STATE / "device.key"
    key.write_bytes(b"not a key")
    status, said = start_and_fail()
    assert status == 1 and "device.key" in said
    assert key.read_bytes() == b"not a key"


def test_the_doctor_names_workers_that_can_t_be_started(login, daemon):
    shell = login()
    fine = "keychain-worker serves each user by itself"
    assert fine in world.run(world.CONTROL, "doctor", check=False).stdout
    assert fine in shell.run("keychainctl doctor").text
    (world.RUN / "worker.sock").unlink()
    # Both have theirs already.
    for said in (world.run(world.CONTROL, "doctor", check=False).stdout,
                 shell.run("keychainctl doctor").text):
        assert "WRONG  keychain-worker does not listen" in said
        assert "systemctl start keychain-worker.socket" in said
