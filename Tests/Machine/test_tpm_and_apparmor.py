# SPDX-License-Identifier: Apache-2.0
"""A TPM, and AppArmor."""

import pytest
from conftest import ALICE
from guest import wait_for

ADD = "printf {} | keychainctl add generic-password --service {} --account me"
GET = "keychainctl get generic-password --service {} </dev/null"
POLICY = """policy: v1
name: confined
rules:
  - id: confined.reads-nothing
    forbid: What runs under this profile reads no passwords.
    operations: read-secret
    subject: {label: "apparmor:confined-reader"}
"""
PROFILE = """profile confined-reader /usr/local/bin/confined-reader {
  file,
  unix,
  network,
}
profile bystander {
  file,
  unix,
  network,
}
"""
LOAD = "apparmor_parser --replace {} /etc/apparmor.d/confined-reader"


def test_the_tpm_opens_the_keychain_at_a_login_by_key_until_it_is_cleared(guest):
    guest.authorize_key("alice")
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept", "mail")).status == 0
    added = console.run("keychainctl protector add tpm2 --at-login --pcrs 7", [ALICE[1]] * 2)
    assert added.status == 0, added.text
    console.logout()
    guest.reboot()
    shell = guest.ssh("alice", by="publickey")
    assert shell.run(GET.format("mail")).text.strip() == "kept"
    shell.closes()
    # Other measurements, until the next boot; and another TPM's secrets.
    for change in ("tpm2_pcrextend 7:sha256=" + 32 * "ab",
                   "tpm2_clear -c platform || tpm2_clear -c lockout"):
        guest.run(change)
        wait_for(lambda: "alice" not in guest.run("loginctl list-sessions --no-legend").text,
                 "logind")
        shell = guest.ssh("alice", by="publickey")
        assert "locked" in shell.run(GET.format("mail")).text
        assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
        assert shell.run(GET.format("mail")).text.strip() == "kept"
        shell.closes()


@pytest.mark.short
def test_a_rule_forbids_to_a_program_by_its_apparmor_profile(guest):
    guest.run("cat >/etc/keychain/policies.d/50-confined.yaml", input=POLICY)
    guest.run("cat >/etc/apparmor.d/confined-reader", input=PROFILE)
    guest.run(LOAD.format(""))
    guest.run("cp /usr/bin/bash /usr/local/bin/confined-reader")
    wait_for(lambda: "confined" in guest.run("keychainctl policy status").text, "the policy")
    console = guest.consoles[0].login(*ALICE)
    ask = GET.format("mail")
    confined = f"confined-reader -c 'cat /proc/self/attr/current; {ask}; echo =$?'"
    assert console.run(ADD.format("kept", "mail")).status == 0
    assert console.run(ask).text.strip() == "kept"
    assert console.run("aa-exec -p bystander -- " + ask).text.strip() == "kept"
    for profile in ("", "aa-exec -p 'bystander//&confined-reader' -- "):
        found = console.run(profile + confined)
        assert "confined-reader (enforce)" in found.text, found.text
        assert "kept" not in found.text and "policy does not allow it" in found.text, found.text
    told = guest.run("keychainctl audit --denied").text
    assert "confined.reads-nothing" in told

    # One that is confined no longer while it is connected is another program.
    console.run("security add-generic-password -s own -a me -w kept")
    console.run("mkfifo ask; aa-exec -p bystander -- security -i <ask >said 2>&1 & exec 9>ask")
    console.run("echo find-generic-password -s own -w >&9")
    wait_for(lambda: console.run("cat said").text.count("kept") == 1, "the first answer")
    guest.run(LOAD.format("--Complain"))
    console.run("echo find-generic-password -s own -w >&9; exec 9>&-; wait")
    said = console.run("cat said").text
    assert said.count("kept") == 1 and len(said.split()) > 1, said

    # Nothing holds a program in a profile that is not enforced, and nothing tells what it is.
    found = console.run(confined)
    assert "confined-reader (complain)" in found.text and "kept" not in found.text, found.text
    assert console.run(ask).text.strip() == "kept"
    reason = console.run("aa-exec -p bystander -- sleep 60 & sleep 2; keychainctl policy facts $!").text
    assert "its AppArmor profile is not enforced" in reason, reason

    guest.run("rm /etc/keychain/policies.d/50-confined.yaml")
    wait_for(lambda: "confined" not in guest.run("keychainctl policy status").text, "the policy")
    assert "kept" in console.run(confined).text
    console.logout()


def test_a_full_file_of_the_audit_makes_way_under_its_program_s_profile(guest):
    console = guest.consoles[0].login(*ALICE)
    missing = "keychainctl delete generic-password --service none"
    assert console.run(missing).status == 3
    confined = guest.run("cat /proc/$(pgrep --exact keychain-audit)/attr/current").text
    assert confined.strip() == "keychain-audit (enforce)"
    user = guest.run(f"id --user {ALICE[0]}").text.strip()
    file = f"/var/lib/keychain/audit/{user}.jsonl"
    # The largest that it has.
    guest.run(f"truncate --size={4 << 20} {file}")
    assert console.run(missing).status == 3
    wait_for(lambda: guest.run(f"stat --format=%s {file} {file}.1", check=False).text.split()[1:]
             == [str(4 << 20)], "the full file to make way")
    assert "delete" in guest.run(f"tail --lines=1 {file}").text
    console.logout()
