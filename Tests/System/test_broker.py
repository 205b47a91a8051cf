# SPDX-License-Identifier: Apache-2.0
"""keychain-broker, which looks at users' processes for their workers: with which rights, for whom,
and what becomes of requests without it."""

import os
import pathlib
import shutil
import signal
import socket
import struct
import threading

import pytest

import world
from conftest import ALICE
from graphical import processes
from test_starter import status_of

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
SOCKET = world.RUN / "broker.sock"
OF_ROOT = pathlib.Path("/run/broker-test")
# CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE (linux/capability.h).
TWO = 1 << 2 | 1 << 19


def broker(daemon):
    own, = [int(entry.name) for entry in processes("keychain-broker")
            if world.parent_of(entry.name) == daemon.pid]
    return own


def rights(pid, name="CapPrm"):
    return int(status_of(pid, name), 16)


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def threads_of(pid):
    return [int(entry.name) for entry in pathlib.Path(f"/proc/{pid}/task").iterdir()]


def test_keychaind_and_its_workers_have_no_right_and_the_broker_has_two(daemon, shell):
    threads = threads_of(daemon.pid)
    with_rights = [one for one in threads if rights(one)]
    # Without systemd each of its listening children has a thread that starts it again.
    assert rights(daemon.pid) == 0 and len(with_rights) == 4 < len(threads)
    worker = daemon.worker(ALICE[0])
    assert not [one for one in threads_of(worker) if rights(one)]
    own = broker(daemon)
    for name in "CapPrm", "CapEff", "CapBnd":
        assert rights(own, name) == TWO, name
    assert rights(own, "CapInh") == rights(own, "CapAmb") == 0
    assert {status_of(pid, "NoNewPrivs") for pid in (own, daemon.pid, worker)} == {"1"}


def test_a_program_in_a_home_that_is_closed_is_known_by_its_path(shell):
    """keychaind itself could not look there."""
    shell.run("mkdir -m 0700 closed; cp /usr/bin/python3 closed/mine")
    told = shell.run("closed/mine -c 'import os; os.system(\"keychainctl policy facts $PPID\")'")
    shell.run("rm -r closed")
    assert told.status == 0 and f"/home/{ALICE[0]}/closed/mine" in told.text, told.text


def test_a_broker_that_was_killed_is_started_again_and_no_request_is_lost(daemon, shell):
    for _ in range(3):
        before = broker(daemon)
        os.kill(before, signal.SIGKILL)
        assert shell.run(GET).text.strip() == "s3cret"
        assert broker(daemon) != before


def test_while_the_broker_hangs_new_programs_wait(daemon, shell):
    own = broker(daemon)
    os.kill(own, signal.SIGSTOP)
    told = []
    reading = threading.Thread(target=lambda: told.append(shell.run(GET)))
    reading.start()
    reading.join(2)
    assert reading.is_alive() and told == []
    os.kill(own, signal.SIGCONT)
    reading.join(world.PATIENCE)
    assert told[0].text.strip() == "s3cret"


def test_without_the_broker_no_program_is_answered_and_the_log_names_the_cause(daemon, shell):
    away = SOCKET.with_name("away")
    SOCKET.rename(away)
    os.kill(broker(daemon), signal.SIGKILL)
    for _ in range(3):
        answer = shell.run(GET)
        assert answer.status != 0 and "s3cret" not in answer.text
    assert daemon.log().count("keychain-broker does not answer") == 1
    away.rename(SOCKET)
    assert shell.run(GET).text.strip() == "s3cret"


# Asks as whose the connection is to be, and tells how long the reply is.
ASKING = """
import socket, struct, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
    connection.connect(sys.argv[1])
    connection.settimeout(45)
    try:
        connection.send(struct.pack("<4sHHI12x", b"KCLK", 1, 6, 0))
        print(len(connection.recv(5000)))
    except (BrokenPipeError, ConnectionResetError):
        print(0)
"""


def is_heard(path, program="/usr/bin/python3", before=()):
    told = world.run(*before, program, "-B", "-c", ASKING, path,
                     env={"PYTHONHOME": "/usr", "PATH": "/usr/bin:/bin"})
    return int(told.stdout) > 0


def test_no_other_program_of_root_s_is_heard(daemon):
    assert not is_heard(SOCKET)
    assert SOCKET.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def installation():
    """The installed program beside a keychaind and a keychain-worker that are a Python."""
    OF_ROOT.mkdir()
    programs = [OF_ROOT / "libexec/keychain/keychain-broker", OF_ROOT / "sbin/keychaind",
                OF_ROOT / "libexec/keychain/keychain-worker"]
    for each in programs:
        each.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath("/usr/bin/python3"), each)
    shutil.copy(world.PREFIX / "libexec/keychain/keychain-broker", programs[0])
    for each in programs:
        each.chmod(0o755)
    path = OF_ROOT / "broker.sock"
    with world.listening(programs[0], path):
        yield path, *programs[1:]
    shutil.rmtree(OF_ROOT)


def test_it_hears_keychaind_alone(installation):
    path, keychaind, worker = installation
    assert is_heard(path, keychaind)
    other = keychaind.with_name("other")
    shutil.copy(keychaind, other)
    for program in other, worker, "/usr/bin/python3":
        assert not is_heard(path, program)
    path.chmod(0o666)
    assert not is_heard(path, keychaind, ["setpriv", "--reuid", "nobody", "--clear-groups"])


def test_it_does_not_start_by_hand(daemon):
    program = world.PREFIX / "libexec/keychain/keychain-broker"
    told = world.run(program, check=False)
    assert told.returncode == 2
    assert "is started by systemd or keychaind, as root, with a socket" in told.stderr + told.stdout
