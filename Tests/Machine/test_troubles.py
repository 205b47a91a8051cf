# SPDX-License-Identifier: Apache-2.0
"""What a machine may lack, and what may happen to its clock."""

from conftest import ALICE

ADD = "printf {} | keychainctl add generic-password --service {} --account me"
GET = "keychainctl get generic-password --service {} </dev/null"
YEARS = 10 * 365 * 86400
BARE = ("apparmor=0 systemd.mask=dbus.socket systemd.mask=dbus.service"
        " systemd.mask=systemd-logind.service")


def test_without_tpm_logind_bus_and_apparmor_logins_work_and_doctor_names_them(guest):
    told = guest.run("keychainctl doctor", check=False).text
    for there in ("logind tells of", "a TPM can protect", "AppArmor labels programs"):
        assert there in told, told
    guest.run("sync")
    guest.power_cut()
    guest.start(kernel=BARE, has_tpm=False).wait()
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept", "mail")).status == 0
    assert console.run(GET.format("mail")).text.strip() == "kept"
    told = guest.run("keychainctl doctor", check=False).text
    for missing in ("there is no D-Bus system bus, and so no logind", "there is no TPM",
                    "neither AppArmor nor SELinux is in force"):
        assert missing in told, told
    assert "WRONG" not in told.split("\nFiles")[0].split("\nMachine")[1], told
    console.logout()
    shell = guest.ssh(*ALICE)
    assert shell.run(GET.format("mail")).text.strip() == "kept"
    shell.closes()
    # What the next test loads is of a machine with all of it.
    guest.power_cut()


def test_a_clock_that_is_set_by_years_locks_no_keychain(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept", "mail")).status == 0
    assert console.run("keychainctl settings --lock-after-idle 60s --lock-after 1h").status == 0
    for seconds in (YEARS, 0, -YEARS, 0):
        guest.set_clock(seconds)
        assert console.run(GET.format("mail")).text.strip() == "kept", seconds
    console.logout()
