# SPDX-License-Identifier: Apache-2.0
"""What keychaind says on the system's bus and in its audit log of the policies that it reads."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

import world
from conftest import ALICE, BOB
from test_policies import ADD, GET, admin

RULE = """rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
"""
BROKEN = "rules:\n  - id: test.broken\n    forbit: x\n"
PLACE = "60-broken.yaml:5:5: error[KC2001]"


@pytest.fixture
def bus():
    running = world.Bus()
    yield running
    running.stop()


@pytest.fixture
def listener(bus, tmp_path):
    """What another user's program hears, as keychaind(8) says."""
    heard = tmp_path / "heard"
    processes = []

    def listen():
        user = world.pwd.getpwnam(BOB[0])
        with heard.open("w") as output:
            processes.append(subprocess.Popen(
                ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
                 "dbus-monitor", "--system", "type='signal',interface='keychaind.Policies'"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL))
        # It hears itself come.
        world.wait_for(lambda: "NameAcquired" in heard.read_text(), "the monitor to listen")
        return lambda: [part for part in heard.read_text().split("signal ")[1:]
                        if "interface=keychaind.Policies;" in part]

    yield listen
    for process in processes:
        process.terminate()
        process.wait(world.PATIENCE)


def members(signals):
    return [part.split("member=")[1].split()[0] for part in signals]


def test_everybody_is_told_of_policies_that_can_t_be_used_and_of_others_that_can(
        bus, daemon, listener, admin):
    bus.start()
    heard = listener()
    admin(RULE)
    world.wait_for(lambda: "InForce" in members(heard()), "the good news")
    admin(BROKEN, name="60-broken.yaml", takes=False)
    world.wait_for(lambda: members(heard())[-1:] == ["Degraded"], "the bad news")
    told = heard()[-1]
    assert "path=/keychaind;" in told and "what was in force stays in force" in told
    assert PLACE in told
    admin("rules: []\n", name="60-broken.yaml")
    world.wait_for(lambda: members(heard())[-1:] == ["InForce"], "the good news")
    assert "/etc/keychain/policies.d/50-test.yaml: 1 rule" in heard()[-1]


def test_the_signal_says_what_status_says_to_everybody(bus, daemon, listener, admin):
    bus.start()
    heard = listener()
    admin(BROKEN, name="60-broken.yaml", takes=False)
    world.wait_for(lambda: members(heard())[-1:] == ["Degraded"], "the bad news")
    status = world.as_user(BOB[0], world.CONTROL, "policy", "status")
    assert status.returncode == 3
    assert status.stdout.strip() in heard()[-1]


def test_a_bus_that_comes_later_hears_how_it_stands(bus, daemon, listener, admin):
    admin(BROKEN, name="60-broken.yaml", takes=False)
    bus.start()
    # A program that was too late for the signal knows by asking.
    heard = listener()
    assert world.as_user(BOB[0], world.CONTROL, "policy", "status").returncode == 3
    admin("rules: []\n", name="60-broken.yaml")
    world.wait_for(lambda: members(heard())[-1:] == ["InForce"], "the good news")


def test_a_bus_that_restarts_hears_of_it_again(bus, daemon, listener, admin):
    bus.start()
    heard = listener()
    admin(RULE)
    world.wait_for(lambda: members(heard())[-1:] == ["InForce"], "the good news")
    bus.stop()
    bus.start()
    heard = listener()
    admin(BROKEN, name="60-broken.yaml", takes=False)
    world.wait_for(lambda: members(heard())[-1:] == ["Degraded"], "the bad news")


def test_a_bus_that_hangs_keeps_neither_policies_nor_requests_waiting(
        bus, daemon, login, listener, admin):
    shell = login()
    assert shell.run(ADD.format("mail")).status == 0
    bus.start()
    heard = listener()
    bus.processes[0].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    admin(RULE)
    assert shell.run(GET.format("mail")).status != 0
    admin(BROKEN, name="60-broken.yaml", takes=False)
    assert world.run(world.CONTROL, "policy", "status", check=False).returncode == 3
    assert time.monotonic() - began < world.PATIENCE / 3
    bus.processes[0].send_signal(signal.SIGCONT)
    world.wait_for(lambda: members(heard())[-1:] == ["Degraded"], "the bad news")


def test_what_became_of_the_policies_is_in_the_audit_log(daemon, admin):
    admin(RULE)
    admin(BROKEN, name="60-broken.yaml", takes=False)
    records = [json.loads(line) for line in world.audit_text().splitlines()]
    loads = [record for record in records if record["operation"] == "loadPolicies"]
    assert [record["outcome"] for record in loads][-2:] == ["allowed", "damagedPolicy"]
    assert {(record["user"], record["program"]) for record in loads} == {(0, "keychaind")}
    assert world.run(world.CONTROL, "policy", "reload", check=False).returncode != 0
    assert "damagedPolicy" in world.run(world.CONTROL, "audit", "--denied").stdout


def test_after_a_restart_status_still_says_what_is_wrong(daemon, admin):
    admin(RULE)
    admin(BROKEN, name="60-broken.yaml", takes=False)
    daemon.restart()
    status = world.run(world.CONTROL, "policy", "status", check=False)
    assert status.returncode == 3 and "the last that could be used" in status.stdout
    assert PLACE in status.stdout
