# SPDX-License-Identifier: Apache-2.0
"""The Secret Service on both of Debian's buses, started by the user's own systemd, for all users by the
package keychain-secret-service."""

import re

import pytest
from conftest import ALICE


@pytest.mark.parametrize("bus", ["dbus-daemon", "dbus-broker"])
def test_programs_keep_secrets_on_either_bus(guest, bus):
    if bus == "dbus-broker":
        guest.run("systemctl --global enable dbus-broker.service")
    console = guest.consoles[0].login(*ALICE)
    stored = console.run("printf s3cret | secret-tool store --label='A test' purpose bus kind one")
    assert stored.status == 0, stored
    # It is started by the first call.
    running = guest.run(f"ps -u {ALICE[0]} -o comm=").text.split()
    assert ("dbus-daemon" in running, "dbus-broker" in running) == (
        bus == "dbus-daemon", bus == "dbus-broker"), running
    assert console.run("secret-tool lookup purpose bus").text.strip() == "s3cret"
    found = console.run("secret-tool search --all kind one 2>&1").text
    assert "label = A test" in found and "attribute.purpose = bus" in found, found
    status = console.run("keychainctl secrets status").text
    assert "org.freedesktop.secrets: keychain-secret, process" in status, status
    # It is the unit's process, and not one that the bus started by itself.
    process, = re.findall("process ([0-9]+)", status)
    main = console.run("systemctl --user --no-pager show --property=MainPID --value keychain-secrets").text.strip()
    assert main == process
    # Each bus tells by its own means which program asks.
    asked = guest.run("keychainctl audit --json --since 10m").text
    assert '"program":"exe:/usr/bin/secret-tool"' in asked.replace('" : "', '":"').replace('": "', '":"'), asked
    assert console.run("secret-tool clear purpose bus").status == 0
    assert console.run("secret-tool lookup purpose bus").status == 1
    console.logout()
