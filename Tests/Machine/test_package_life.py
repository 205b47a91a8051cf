# SPDX-License-Identifier: Apache-2.0
"""Upgraded, removed, installed again and purged beside systemd, with users who are logged in."""

import pathlib
import shutil
import sys

import pytest
from conftest import ALICE, BOB, WORK
from guest import make_disk, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Packages"))
import dpkg  # noqa: E402

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
OURS = "$(dpkg-query -W -f '${Package} ' 'keychain-se*' libpam-keychain)"
STACKS = "cat /etc/pam.d/common-auth /etc/pam.d/common-session /etc/pam.d/common-password"


@pytest.fixture(scope="session")
def newer_disk(packages_disk):
    """The same packages, as of a later version."""
    folder = WORK / "newer"
    dpkg.newer(folder, "0.1.1-1")
    disk = WORK / "newer.raw"
    make_disk(folder, disk)
    shutil.rmtree(folder)
    return disk


def install(guest, disk, *, unpacks="--install"):
    with guest.mounted(disk, "--read-only", format="raw") as folder:
        return guest.run(f"DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io {unpacks} "
                         f"{folder}/*.deb", seconds=300).text


def state(guest, unit):
    return guest.run(f"systemctl show --property=ActiveState --value {unit}").text.strip()


def test_an_upgrade_leaves_open_what_is_open_and_a_purge_asks(guest, newer_disk):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept")).status == 0
    guarded = "keychainctl {} generic-password --service bank --account me"
    assert console.run(f"printf asked | {guarded.format('add')} --flags user-presence").status == 0
    before = guest.run("systemctl show --property=MainPID --value keychaind").text
    worker = guest.run("pgrep --exact kc:1000").text
    install(guest, newer_disk, unpacks="--unpack")
    # A question that is open when the service is restarted is answered first. It is asked again where
    # the packages take longer than it is shown.
    console.send(f"until {guarded.format('get')}; do :; done")
    console.terminal.expect("assword: ?$")
    guest.run("systemd-run --quiet --unit=upgrade --setenv=DEBIAN_FRONTEND=noninteractive"
              " dpkg --configure --pending")
    wait_for(lambda: state(guest, "keychaind") == "deactivating", "the service to end", 300, pause=2)
    console.terminal.sendline(ALICE[1])
    console.terminal.expect("asked\r")
    console.terminal.expect_exact(console.PROMPT)
    wait_for(lambda: state(guest, "upgrade") == "inactive", "the upgrade to go on", 120)
    assert guest.run("dpkg --audit").text == ""
    assert guest.run("systemctl show --property=MainPID --value keychaind").text != before
    assert console.run(GET).text.strip() == "kept"
    assert guest.run("pgrep --exact kc:1000").text != worker

    # Removed: no stack names the module, logins go on, and so does the one that is there.
    guest.run(f"DEBIAN_FRONTEND=noninteractive dpkg --remove {OURS}")
    assert "pam_keychain" not in guest.run(STACKS).text
    assert guest.run("systemctl is-system-running", check=False).text == "running\n"
    assert guest.run("systemctl is-active keychaind.socket keychaind keychain-worker.socket",
                     check=False).status != 0
    assert guest.run("systemctl list-units --no-legend 'keychain-worker@*'").text == ""
    guest.consoles[1].login(*BOB).logout()
    console.logout()

    # Installed again: what was there is there.
    install(guest, newer_disk)
    assert "pam_keychain" in guest.run(STACKS).text
    console.login(*ALICE)
    assert console.run(GET).text.strip() == "kept"

    # The administrator is asked, and answers no, or yes.
    console.becomes("sudo -i", [ALICE[1]])
    guest.save("before the purge")
    for answer, is_kept in (("no", True), ("yes", False)):
        guest.go_back("before the purge")
        console.send(f"DEBIAN_FRONTEND=teletype dpkg --purge {OURS}")
        console.terminal.expect("Remove all users' keychains")
        console.terminal.expect(r"\[yes/no\] ")
        console.send(answer)
        console.terminal.expect_exact(console.PROMPT)
        assert guest.run("test -e /var/lib/keychain/1000/login.keychain", check=False
                         ).status == (0 if is_kept else 1)
        assert "pam_keychain" not in guest.run(STACKS).text
    console.returns()
    console.logout()
    assert guest.run("ls -d /var/lib/keychain /etc/keychain", check=False).text.count("No such") == 2
    assert guest.run("systemctl is-system-running", check=False).text == "running\n"
