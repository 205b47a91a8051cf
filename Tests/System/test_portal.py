# SPDX-License-Identifier: Apache-2.0
"""The desktop's portal, Debian's own, asks for the secrets of applications in sandboxes; other programs
that ask in their names get none."""

import os
import pathlib
import re
import shlex
import shutil

import pytest

import world
from conftest import ALICE
from test_libraries import needs
from test_policies import admin, audit  # noqa: F401 (a fixture)
from test_secret_service import BRIDGE, WAIT, desk, programs  # noqa: F401 (fixtures)

XDG_DESKTOP_PORTAL = "/usr/libexec/xdg-desktop-portal"
ONE, OTHER = "org.example.One", "org.example.Other"
SECRET = re.compile("0 (64:[0-9a-f]{8})")


@pytest.fixture(scope="module")
def sandbox(programs):
    needs("bwrap", "xdg-dbus-proxy")
    if not os.path.exists(XDG_DESKTOP_PORTAL):
        pytest.skip("no portal is installed: scripts/install-dependencies libraries")
    for name in ("portal_client.py", "portal_sandbox.sh"):
        shutil.copy(world.TOP / "Tests/System" / name, world.TOOLS)
    portals = world.PREFIX / "share/xdg-desktop-portal/portals"
    return f"env KEYCHAIN_PORTALS={portals} sh {world.TOOLS}/portal_sandbox.sh"


@pytest.fixture
def shell(login, sandbox):
    shell = login()
    assert shell.run("rm -rf ~/.local/share/dbus-1; keychainctl secrets enable").status == 0
    return shell


def steps(done):
    return re.findall("<([^>]*)>", done.text)


@pytest.fixture
def bus(shell):
    def run(command, seconds=4 * world.PATIENCE):
        return steps(shell.run(f"dbus-run-session -- sh -c '{command}'", seconds=seconds))
    return run


@pytest.fixture
def program(bus):
    """Another program of the user's calls."""
    return lambda *words: bus(f"/usr/bin/python3 -B {world.TOOLS}/portal_client.py {' '.join(words)}")


def secret(said):
    found = SECRET.fullmatch(said)
    assert found, said
    return found.group(1)


def test_each_application_has_a_secret_that_is_made_once(bus, sandbox):
    first, again = map(secret, bus(f"{sandbox} {ONE} secret socket"))
    other, = map(secret, bus(f"{sandbox} {OTHER} secret"))
    # Two that ask for the first time, at once.
    new, newer = map(secret, bus(f"{sandbox} org.example.New twice"))
    assert first == again and new == newer and len({first, other, new}) == 3
    assert [secret(said) for said in bus(f"{sandbox} {ONE} secret; {sandbox} {OTHER} secret")] == [
        first, other]


def test_what_is_recorded_names_the_application_and_the_portal(bus, sandbox, daemon):
    secret(bus(f"{sandbox} {ONE} secret")[0])
    added, = [record for record in audit(daemon) if record["operation"] == "add"]
    assert added["program"] == f"portal:{ONE}" and added["outcome"] == "allowed", added


def test_no_other_program_asks_in_an_application_s_name(bus, program, sandbox, daemon):
    kept, = map(secret, bus(f"{sandbox} {ONE} secret"))
    assert program(f"direct:{ONE}", f"direct:{ONE}", "direct:org.example.None") == ["AccessDenied"] * 3
    # By its attributes it is found by no program either that can't ask its user.
    assert bus(f"echo \"<$(secret-tool lookup app_id {ONE})>\"") == [""]
    # Nor does one that was there before take a secret's place.
    bus(f"printf known | secret-tool store --label=L app_id {OTHER} xdg:schema org.freedesktop.portal.Secret")
    other, = map(secret, bus(f"{sandbox} {OTHER} secret"))
    assert [secret(said) for said in bus(f"{sandbox} {ONE} secret; {sandbox} {OTHER} secret")] == [
        kept, other]
    assert not [record for record in audit(daemon) if record.get("program") == "portal:org.example.None"
                and record["outcome"] == "allowed"]


@pytest.mark.parametrize("step, error", [
    ("direct:", "InvalidArgs"), ("direct:../../etc/passwd", "InvalidArgs"), ("direct:a/b", "InvalidArgs"),
    ("direct:a..b", "InvalidArgs"), ("long:256", "LimitsExceeded"), ("long:1048576", "LimitsExceeded"),
    ("two", "InvalidArgs"), ("none", "InvalidArgs"), ("handle", "InvalidArgs"),
    ("close", "UnknownMethod"), ("version", "1")])
def test_a_call_that_is_not_meant_well_is_refused(program, step, error):
    assert program("portal", step) == [error]


@pytest.fixture
def portal(bus):
    """A program in the portal's place, which asks in whichever application's name."""
    world.run("mount", "--bind", os.path.realpath("/usr/bin/python3"), XDG_DESKTOP_PORTAL)
    # Fewer calls are taken before it is known who calls: the first one waits for that.
    yield lambda *words: bus(f"PYTHONHOME=/usr {XDG_DESKTOP_PORTAL} -B "
                             f"{world.TOOLS}/portal_client.py portal version {' '.join(words)}")[1:]
    world.run("umount", "--lazy", XDG_DESKTOP_PORTAL)


def test_an_application_has_four_requests_under_way_and_no_more(portal):
    given, secret = portal("held:1:3", "direct:org.example.Held0")
    assert "UInt32(0)" in given and secret == "a secret"
    assert portal("held:1:4", "direct:org.example.Held0") == ["LimitsExceeded"]
    # Another application's are counted apart.
    assert portal("held:1:4", f"direct:{ONE}")[1:] == ["a secret"]


def test_all_applications_together_have_sixteen(portal):
    assert portal("held:5:3", f"direct:{ONE}")[1:] == ["a secret"]
    assert portal("held:4:4", f"direct:{ONE}") == ["LimitsExceeded"]


def test_requests_that_ended_count_no_more(portal):
    said = portal("held:4:4", f"direct:{ONE}", "wait:8", f"direct:{ONE}")
    assert said[0] == "LimitsExceeded" and said[2:] == ["a secret"], said


@pytest.mark.parametrize("step, told", [
    ("full", "2"), ("closed", "2"), ("reading", "2"), ("file", "2 0")])
def test_a_descriptor_that_takes_no_secret_gets_none_and_holds_nothing_up(bus, sandbox, step, told):
    said = bus(f"{sandbox} {ONE} {step} secret")
    assert said[0] == told
    secret(said[1])


def test_descriptors_that_a_call_does_not_name_are_let_go(bus, sandbox):
    said = bus(f"/usr/bin/python3 -B {world.TOOLS}/portal_client.py burdened")
    # Another program's calls, sent in between, are none of these.
    assert said == ["300 /org/freedesktop/secrets/collection/login"]


def test_a_locked_keychain_is_opened_by_a_question(desk, sandbox):
    desk.prompter("honest", ALICE[1])
    desk.on_a_bus(f"{sandbox} {ONE} secret secret")
    assert desk.heard() == "<asked>"
    said = [desk.heard().strip("<>") for _ in range(2)]
    assert secret(said[0]) == secret(said[1])
    desk.hears("<status 0>")


def test_a_no_is_a_no(desk, sandbox):
    desk.prompter("refuses", ALICE[1])
    desk.on_a_bus(f"{sandbox} {ONE} secret")
    assert desk.heard() == "<asked>"
    assert desk.heard() == "<1 >"


def test_where_no_user_can_be_asked_nothing_is_made(shell, bus, sandbox):
    kept, = map(secret, bus(f"{sandbox} {ONE} secret"))
    assert shell.run("keychainctl lock").status == 0
    assert bus(f"{sandbox} {ONE} secret") == ["2 "]
    assert bus(f"{sandbox} {OTHER} secret") == ["2 "]
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert [secret(said) for said in bus(f"{sandbox} {ONE} secret")] == [kept]


def test_a_request_that_is_taken_back_ends_its_question(desk, sandbox):
    desk.prompter("waits", ALICE[1])
    desk.on_a_bus(f"{sandbox} {ONE} taken-back")
    assert desk.heard() == "<asked>"
    desk.shell.sendline("")
    assert {desk.heard() for _ in range(3)} == {"<hung up>", "<closed 0>", "<status 0>"}


def test_the_service_in_the_own_process_has_no_secret_for_applications(shell):
    shell.run("rm -rf ~/keychains")
    inner = (f"{BRIDGE} --embedded & {WAIT}; /usr/bin/python3 -B {world.TOOLS}/portal_client.py"
             f" direct:{ONE}; kill $!")
    done = shell.run(f"KEYCHAIN_HOME=~/keychains dbus-run-session -- sh -c {shlex.quote(inner)}")
    assert steps(done) == ["AccessDenied"], done


def test_a_daemon_that_ends_in_between_loses_no_secret(shell, bus, sandbox, daemon):
    kept, = map(secret, bus(f"{sandbox} {ONE} secret"))
    daemon.stop(9)
    assert bus(f"{sandbox} {ONE} secret") == ["2 "]
    daemon.start()
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert [secret(said) for said in bus(f"{sandbox} {ONE} secret")] == [kept]


def test_a_rule_forbids_what_comes_through_the_portal(bus, sandbox, admin):
    admin(f"""rules:
  - id: test.no-portal
    forbid: This application has no secret here.
    operations: [add, read-secret]
    subject: {{via: portal}}
    resource: {{class: attributed, access-group: "portal:{ONE}"}}
""")
    assert bus(f"{sandbox} {ONE} secret") == ["2 "]
    secret(bus(f"{sandbox} {OTHER} secret")[0])


def test_the_portal_file_is_told(shell):
    told = shell.run(f"XDG_DATA_DIRS={world.PREFIX}/share dbus-run-session -- keychainctl secrets status").text
    assert f"{world.PREFIX}/share/xdg-desktop-portal/portals/keychain.portal" in told, told
    told = shell.run(f"XDG_DATA_DIRS={world.PREFIX}/share dbus-run-session -- keychainctl doctor").text
    assert "xdg-desktop-portal asks for sandboxed applications" in told, told
    told = shell.run("XDG_DESKTOP_PORTAL_DIR=/nowhere dbus-run-session -- keychainctl secrets status").text
    assert "has no keychain.portal" in told, told
