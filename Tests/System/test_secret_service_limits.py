# SPDX-License-Identifier: Apache-2.0
"""How much org.freedesktop.secrets takes, of one program and of all (secrets_limits.py makes the calls)."""

import os
import pathlib
import pwd
import shutil

import pytest

import world
from conftest import ALICE
from test_deputy import Running
from test_secret_service import BRIDGE, bus, desk, ends, programs  # noqa: F401 (fixtures)

PYTHON = "/usr/bin/python3"
GROUPS = 5


@pytest.fixture(scope="module")
def cases(programs):
    shutil.copy(world.TOP / "Tests/System/secrets_limits.py", world.TOOLS)
    return f"{PYTHON} -B {world.TOOLS}/secrets_limits.py"


@pytest.mark.parametrize("case", ["calls", "strangers", "descriptors", "bytes_under_way"])
def test_what_is_beyond_the_limit_is_refused_at_once_and_the_rest_is_done(desk, daemon, cases, case):
    assert desk.login.run("keychainctl unlock", [ALICE[1]]).status == 0
    desk.on_a_bus(f"{cases} {case}")
    desk.hears("<ready>")
    worker = daemon.worker(ALICE[0])
    with world.stopped(worker):
        desk.shell.sendline("")
        full = desk.heard()
    assert full == "<full>", desk.shell.before
    ends(desk)


def test_a_program_has_sixteen_prompts_which_go_with_it(desk, cases):
    desk.prompter("honest", ALICE[1])
    desk.on_a_bus(f"{cases} prompts")
    ends(desk)


def test_several_secrets_at_once_are_bounded(bus, cases):
    done = bus(f"{cases} secrets")
    assert done.status == 0, done.text


@pytest.fixture
def crowd(login, cases):
    """Starts processes of five programs on one bus, each with connections and sessions of its own."""
    login(ALICE)
    home = pwd.getpwnam(ALICE[0]).pw_dir
    enabled = world.as_user(ALICE[0], world.CONTROL, "secrets", "enable", env={"HOME": home})
    assert enabled.returncode == 0, enabled
    for number in range(GROUPS):
        shutil.copy(os.path.realpath(PYTHON), world.TOOLS / f"python-{number}")
    bus = Running(ALICE, "env", f"HOME={home}", "dbus-daemon", "--session", "--nofork", "--print-address")
    started, address = [bus], bus.process.stdout.readline().strip()

    def start(number, *case):
        started.append(Running(
            ALICE, "env", f"DBUS_SESSION_BUS_ADDRESS={address}", "PYTHONHOME=/usr",
            world.TOOLS / f"python-{number}", "-B", world.TOOLS / "secrets_limits.py", *case))
        return started[-1]

    yield start
    for process in reversed(started):
        process.ends()


def service():
    """The process of the one bridge that runs."""
    return pathlib.Path("/proc", world.run("pgrep", "-f", str(BRIDGE)).stdout.split()[0])


def uses(member):
    member.goes_on("use")
    assert member.hears() == "used"


def test_of_more_connections_than_are_known_each_keeps_its_session(crowd):
    members = [crowd(number, "crowd", 104, 1) for number in range(GROUPS)]
    assert [member.hears() for member in members] == ["104 0"] * GROUPS
    # The first one's had to make room, and are introduced anew.
    for _ in range(2):
        for member in members:
            uses(member)
    # Each known connection is a descriptor of its process.
    assert len(list((service() / "fd").iterdir())) < 512 + 64


def test_of_more_connections_of_one_program_each_keeps_its_session_and_others_have_room(crowd):
    one = crowd(0, "crowd", 200, 1)
    assert one.hears() == "200 0"
    assert len(list((service() / "fd").iterdir())) < 128 + 64
    other = crowd(1, "crowd", 1, 1)
    assert other.hears() == "1 0"
    for member in (one, other, one):
        uses(member)


def test_a_program_has_a_quarter_of_all_sessions_and_all_together_1024(crowd):
    members = [crowd(number, "crowd", 65, 4) for number in range(4)]
    assert [member.hears() for member in members] == ["256 4"] * 4
    last = crowd(4, "crowd", 2, 1)
    assert last.hears() == "0 2"
    members[0].goes_on("close")
    assert members[0].hears() == "closed"
    last.goes_on("open")
    assert last.hears() == "opened"
    uses(last)


def test_a_program_has_a_quarter_of_all_calls_and_all_together_1024(crowd, daemon):
    members = [crowd(number, "busy", 256) for number in range(4)]
    last = crowd(4, "busy", 1)
    assert [member.hears() for member in (*members, last)] == ["ready"] * GROUPS
    worker = daemon.worker(ALICE[0])
    with world.stopped(worker):
        for member in members:
            member.goes_on("")
        heard = [member.hears() for member in members]
        last.goes_on("")
        heard.append(last.hears())
    # One more than may be on each of four connections, and the last one's only call.
    assert heard == ["4"] * 4 + ["1"]
    for member in (*members, last):
        member.goes_on("")
        assert member.hears() == "done"
