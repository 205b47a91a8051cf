# SPDX-License-Identifier: Apache-2.0
"""Ways into a machine that booted by systemd, and what each does to the login keychain."""

import re

import pytest
from conftest import ALICE, BOB
from guest import wait_for

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
LOCKED = "locked"


@pytest.mark.short
def test_the_packages_make_a_machine_that_runs(guest):
    assert "error" not in guest.installation.lower()
    assert guest.run("systemctl is-system-running", check=False).text.strip() == "running"
    for unit in ("keychaind.service", "keychaind.socket", "keychaind-login.socket",
                 "keychaind-offer.socket", "keychain-worker.socket", "keychain-broker.socket",
                 "keychain-starter.socket", "keychain-audit.socket"):
        assert guest.run(f"systemctl is-active {unit}; systemctl is-enabled {unit}").text.split() \
            == ["active", "enabled"], unit
    for stack in "auth", "session", "password":
        assert guest.run(f"grep -c '^[^#]*pam_keychain.so' /etc/pam.d/common-{stack}").text == "1\n"
    assert guest.run("systemctl show --property=NRestarts --value keychaind").text == "0\n"
    # The journal has the time and the name already, and nothing that a library complains of.
    told = guest.run("journalctl --unit=keychaind --output=cat").text
    assert "\nserving /run/keychain/keychain.sock" in told and "Failed to" not in told, told


@pytest.mark.short
def test_a_login_at_the_console_opens_the_keychain_and_the_logout_closes_it(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("tr0ub4dor")).status == 0
    assert console.run(GET).text.strip() == "tr0ub4dor"
    console.logout()
    wait_for(lambda: "alice" not in guest.run("loginctl list-sessions --no-legend").text, "logind")
    assert console.login(*ALICE).run(GET).text.strip() == "tr0ub4dor"
    console.logout()


@pytest.mark.short
def test_each_user_has_a_worker_in_a_unit_of_its_own_and_a_killed_one_is_started_again(guest):
    consoles = [guest.consoles[0].login(*ALICE), guest.consoles[1].login(*BOB)]
    for console in consoles:
        assert console.run(ADD.format("kept")).status == 0
    main = guest.run("systemctl show --property=MainPID --value keychaind").text
    units = {name: unit_of_worker(guest, name) for name in ("alice", "bob")}
    assert len(set(units.values())) == 2
    assert all(re.fullmatch(r"keychain-worker@.*\.service", unit) for unit in units.values())
    guest.run(f"systemctl kill --signal=KILL '{units['alice']}'")
    assert [console.run(GET).text.strip() for console in consoles] == ["kept"] * 2
    assert unit_of_worker(guest, "alice") != units["alice"]
    assert unit_of_worker(guest, "bob") == units["bob"]
    assert guest.run("systemctl show --property=MainPID --value keychaind").text == main
    assert guest.run("systemctl is-system-running", check=False).text == "running\n"
    for console in consoles:
        console.logout()


def unit_of_worker(guest, user):
    return guest.run(f"ps -o unit= -p $(pgrep --exact kc:$(id -u {user}))").text.strip()


@pytest.mark.short
def test_ssh_opens_the_keychain_where_the_login_s_process_hears_the_password(guest):
    """Not with a key, and not by keyboard-interactive, whose password sshd takes in a process that
    does not open the session (pam_keychain(8))."""
    guest.authorize_key("alice")
    shell = guest.ssh(*ALICE)
    assert shell.run(ADD.format("by-ssh")).status == 0
    shell.closes()
    no_session_of(guest, "alice")
    shell = guest.ssh(*ALICE)
    assert shell.run(GET).text.strip() == "by-ssh"
    shell.closes()
    no_session_of(guest, "alice")
    for password, way in ((ALICE[1], "keyboard-interactive"), (None, "publickey")):
        shell = guest.ssh("alice", password, by=way)
        found = shell.run(f"{GET} </dev/null")
        assert found.status != 0 and LOCKED in found.text, way
        assert LOCKED in shell.run("keychainctl status").text, way
        assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
        assert shell.run(GET).text.strip() == "by-ssh"
        shell.closes()
        no_session_of(guest, "alice")


def test_su_and_sudo_open_the_keychain_of_the_user_whose_password_was_typed(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("of-alice")).status == 0
    console.becomes("su - bob", [BOB[1]])
    assert console.run("id -un").text == "bob\n"
    assert console.run(ADD.format("of-bob")).status == 0
    assert console.run(GET).text.strip() == "of-bob"
    console.returns()
    assert console.run(GET).text.strip() == "of-alice"
    console.becomes("sudo -i", [ALICE[1]])
    assert console.run("id -un").text == "root\n"
    found = console.run(f"{GET} </dev/null")
    assert found.status != 0 and "of-alice" not in found.text
    console.returns()
    assert console.run(GET).text.strip() == "of-alice"
    console.logout()


def as_unit(guest, command, *options, check=False):
    """As a system unit of these settings: its status and what it said."""
    words = " ".join(f"--property={option}" for option in options)
    return guest.run(f"systemd-run --quiet --wait --pipe --collect {words} -- {command}",
                     check=check)


def by_cron(guest, command):
    """As a job of alice's: the clock goes to the minute's end, and cron looks at it anew."""
    guest.run("rm -f /home/alice/said; crontab -u alice -",
              input=f"* * * * * ({command}; echo \"=$?\") >/home/alice/said 2>&1\n")
    guest.run("date --set=\"$(date +'%F %H:%M'):57\" && systemctl restart cron")
    wait_for(lambda: "=" in guest.run("cat /home/alice/said", check=False).text, "cron")
    text, status = guest.run("cat /home/alice/said; crontab -u alice -r").text.rsplit("=", 1)
    return int(status), text


def no_session_of(guest, user):
    wait_for(lambda: user not in guest.run("loginctl list-sessions --no-legend").text, "logind")


@pytest.mark.short
def test_services_and_jobs_of_a_user_read_while_the_user_is_logged_in(guest):
    guest.run("loginctl enable-linger alice")
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept")).status == 0
    ask = "/usr/bin/" + GET
    ways = {
        "user service": lambda: guest.run(
            f"systemd-run --user --machine alice@ --quiet --wait --pipe --collect -- {ask}",
            check=False),
        "User=": lambda: as_unit(guest, ask, "User=alice"),
        "cron": lambda: by_cron(guest, ask),
    }
    assert {name: tuple(way()) for name, way in ways.items()} == dict.fromkeys(ways, (0, "kept"))
    console.logout()
    no_session_of(guest, "alice")
    # The user's service manager lives on.
    assert guest.run("systemctl is-active user@1000").text == "active\n"
    for name, way in ways.items():
        status, text = way()
        assert status != 0 and LOCKED in text, name


@pytest.mark.short
def test_a_unit_with_a_user_of_its_own_reads_what_root_gave_that_unit(guest):
    guest.run("keychainctl add generic-password --service db --keychain system"
              " --group unit:db.service", input="for the unit")
    ask = "/usr/bin/keychainctl get generic-password --service db --keychain system"
    given = guest.run(f"systemd-run --quiet --wait --pipe --collect --unit=db.service"
                      f" --property=DynamicUser=yes -- {ask}", check=False)
    assert tuple(given) == (0, "for the unit")
    other = guest.run(f"systemd-run --quiet --wait --pipe --collect --unit=web.service"
                      f" --property=DynamicUser=yes -- {ask}", check=False)
    assert other.status != 0 and "for the unit" not in other.text


@pytest.mark.short
def test_of_two_logins_the_second_s_end_locks_also_when_they_are_killed(guest):
    one = guest.consoles[0].login(*ALICE)
    assert one.run(ADD.format("kept")).status == 0
    two = guest.consoles[1].login(*ALICE)
    session = two.run("echo $XDG_SESSION_ID").text.strip()
    guest.run(f"loginctl terminate-session {session}")
    wait_for(lambda: guest.run(f"loginctl show-session {session}", check=False).status, "its end")
    assert one.run(GET).text.strip() == "kept"
    guest.run("systemctl restart systemd-logind")
    wait_for(lambda: guest.run("loginctl list-sessions").status == 0, "logind")
    assert one.run(GET).text.strip() == "kept"
    # The leader of a login that is killed takes no leave.
    guest.run("pkill -KILL --exact --terminal ttyS0 login || pkill -KILL --exact login")
    no_session_of(guest, "alice")
    found = as_unit(guest, "/usr/bin/" + GET, "User=alice")
    assert found.status != 0 and LOCKED in found.text
