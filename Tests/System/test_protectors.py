# SPDX-License-Identifier: Apache-2.0
"""What opens a keychain beside its password: paper, and the machine's TPM."""

import json
import pathlib
import re
import signal
import subprocess
import time

import pytest

import world
from conftest import ALICE
from tpm import CONFIGURATION, SoftwareTPM

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
PAPER = re.compile(r"(?:[2-9A-HJ-NP-Z]{5}-){6}[2-9A-HJ-NP-Z]{5}")
ADD_TPM = "keychainctl protector add tpm2"
# The keychain's password, then the proof that the user is there.
PASSWORDS = [ALICE[1], ALICE[1]]


@pytest.fixture
def machine(tmp_path):
    tpm = SoftwareTPM(tmp_path / "tpm").start()
    tpm.configure()
    yield tpm
    tpm.end()


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def write_down(shell):
    """Adds a recovery key as a person does, and gives what is on the paper."""
    terminal = shell.terminal
    shell.send("keychainctl protector add recovery-key; echo \"<status $?>\"")
    terminal.expect("(?m)assword of the keychain[^\n]*: ?$")
    terminal.sendline(ALICE[1])
    terminal.expect(r"Group (\d) of the recovery key: ")
    paper = PAPER.search(terminal.before).group()
    terminal.sendline(paper.split("-")[int(terminal.match.group(1)) - 1])
    terminal.expect("wants to add something that opens your keychain")
    terminal.expect("(?m)assword: ?$")
    terminal.sendline(ALICE[1])
    terminal.expect(r"<status (\d+)>\r\n")
    assert terminal.match.group(1) == "0"
    terminal.expect_exact(shell.PROMPT)
    return paper


def typed(shell, line, *answers):
    """Runs a command, and answers whatever it asks in this order."""
    shell.send(f"{line}; echo \"<status $?>\"")
    text = ""
    for answer in answers:
        shell.terminal.expect(r"(?m)[:] ?$")
        text += shell.terminal.before
        shell.terminal.sendline(answer)
    shell.terminal.expect(r"<status (\d+)>\r\n")
    text += shell.terminal.before
    status = int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    return world.Result(status, text.replace("\r\n", "\n"))


def identifier(shell, kind):
    listed = shell.run("keychainctl protector list").text
    return re.search(rf"(?m)^([0-9a-f]{{8}}) +{kind}", listed).group(1)


# Paper.


def test_a_recovery_key_opens_the_keychain_and_gives_it_a_new_password(shell):
    paper = write_down(shell)
    shell.run("keychainctl lock")
    opened = typed(shell, "keychainctl unlock --recovery-key", paper.lower(), "", )
    assert opened.status == 0, opened
    assert shell.run(GET).text.strip() == "s3cret"
    shell.run("keychainctl lock")
    changed = typed(shell, "keychainctl unlock --recovery-key", paper, "other words", "other words")
    assert changed.status == 0, changed
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 6
    assert shell.run("keychainctl unlock", ["other words"]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_slip_in_typing_it_costs_nothing(shell):
    paper = write_down(shell)
    shell.run("keychainctl lock")
    wrong = ("3" if paper[0] == "2" else "2") + paper[1:]
    answer = typed(shell, "keychainctl unlock --recovery-key", *[wrong] * 3)
    assert answer.status == 1 and answer.text.count("group 1 of the recovery key is mistyped") == 3
    assert typed(shell, "keychainctl unlock --recovery-key", paper, "").status == 0


def test_a_recovery_key_that_was_removed_opens_nothing(shell):
    paper = write_down(shell)
    assert shell.run(f"keychainctl protector remove {identifier(shell, 'recovery-key')}",
                     [ALICE[1]]).status == 0
    shell.run("keychainctl lock")
    refused = typed(shell, "keychainctl unlock --recovery-key", paper)
    assert refused.status == 3, refused
    assert shell.run(GET).status == 4


def test_who_is_not_there_changes_nothing(shell, daemon):
    paper = write_down(shell)
    number = identifier(shell, "recovery-key")
    before = shell.run("keychainctl protector list").text
    assert shell.run(f"keychainctl protector remove {number}", ["wrong"] * 3).status == 6
    alone = shell.run(f"setsid -w keychainctl protector remove {number} </dev/null 2>&1")
    assert alone.status == 4
    assert shell.run("keychainctl protector list").text == before
    lines = world.audit_text()
    assert '"operation":"addProtector"' in lines and '"outcome":"allowed"' in lines
    assert '"operation":"removeProtector","outcome":"authenticationFailed"' in lines
    assert paper not in lines + daemon.log()


def test_presence_adds_nothing_by_what_opens_a_new_keychain_itself(login, tools, tmp_path):
    """A provisional keychain is opened by the device's key as well: that is for logins alone."""
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    status = json.loads(shell.run("keychainctl status --json").text)
    assert status["keychains"][0]["provisional"]
    paper = write_down(shell)
    window = login(ALICE, "-S", control, password=False)
    shell = world.Beside(shell, window)
    shell.send(f"/usr/bin/python3 -B {world.TOOLS}/client.py adopt:{paper}")
    window.terminal.expect("wants to add something that opens")
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendline(ALICE[1])
    shell.terminal.expect(r"<[^>]+>")
    assert shell.terminal.match.group(0) == "<1>"


def test_a_program_that_guesses_gains_nothing_by_what_opens_by_itself(shell, machine):
    assert shell.run(ADD_TPM, PASSWORDS).status == 0
    number = identifier(shell, "tpm2")
    for _ in range(8):
        said = shell.run("keychainctl unlock", ["a guess"]).text
        said += shell.run(f"keychainctl protector test {number}").text
        if "too many tries" in said:
            return
    pytest.fail("one guess after the other was heard")


def test_presence_without_the_password_adds_nothing(shell, machine):
    before = shell.run("keychainctl protector list").text
    assert shell.run(ADD_TPM, ["not the password", ALICE[1]]).status == 6
    assert shell.run("keychainctl protector list").text == before


# The TPM.


def test_a_tpm_opens_the_keychain_after_a_restart_of_both(shell, machine, daemon):
    assert shell.run(ADD_TPM, PASSWORDS).status == 0
    number = identifier(shell, "tpm2")
    assert shell.run(f"keychainctl protector test {number}").status == 0
    machine.stop()
    machine.start()
    daemon.restart()
    assert shell.run(f"keychainctl protector test {number}").status == 0
    # Testing opens nothing.
    shell.run("keychainctl lock")
    assert shell.run(f"keychainctl protector test {number}").status == 0
    assert shell.run(GET).status == 4


def test_other_measurements_keep_it_closed_and_lose_nothing(shell, machine):
    assert shell.run(ADD_TPM + " --pcrs 7,14", PASSWORDS).status == 0
    number = identifier(shell, "tpm2")
    assert "7, 14" in shell.run("keychainctl protector list").text
    machine.extend(14)
    refused = shell.run(f"keychainctl protector test {number}")
    assert refused.status == 1 and "PCRs changed" in refused.text
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_tpm_that_was_cleared_is_told_as_such(shell, machine):
    assert shell.run(ADD_TPM, PASSWORDS).status == 0
    number = identifier(shell, "tpm2")
    machine.clear()
    refused = shell.run(f"keychainctl protector test {number}")
    assert refused.status == 1 and "cleared" in refused.text
    assert shell.run(f"keychainctl protector remove {number}", [ALICE[1]]).status == 0


def test_a_tpm_that_hangs_is_given_up_and_holds_no_program_up(shell, machine):
    assert shell.run(ADD_TPM, PASSWORDS).status == 0
    number = identifier(shell, "tpm2")
    machine.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    shell.send(f"keychainctl protector test {number}; echo \"<status $?>\"")
    shell.terminal.expect(r"<status (\d+)>\r\n")
    assert shell.terminal.match.group(1) == "1"
    assert "does not answer" in shell.terminal.before
    assert time.monotonic() - began < world.PATIENCE
    shell.terminal.expect_exact(shell.PROMPT)
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_machine_without_a_tpm_says_so(shell):
    refused = shell.run(ADD_TPM, PASSWORDS)
    assert refused.status == 1 and "no such thing" in refused.text and "/dev/tpmrm0" in refused.text


def test_a_file_that_others_could_write_names_no_tpm(shell, machine):
    CONFIGURATION.chmod(0o666)
    refused = shell.run(ADD_TPM, PASSWORDS)
    assert refused.status == 1 and "no such thing" in refused.text


# Logins without a password.


@pytest.fixture
def by_key(login, tmp_path):
    """Ends every login and makes another, by public key."""
    home = world.pathlib.Path(world.pwd.getpwnam(ALICE[0]).pw_dir)
    key = tmp_path / "key"
    world.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    (home / ".ssh").mkdir(exist_ok=True)
    keys = home / ".ssh/authorized_keys"
    keys.write_text(key.with_suffix(".pub").read_text())

    def log_in():
        world.run("pkill", "-KILL", "-u", ALICE[0], check=False)
        world.wait_for(lambda: not any(n.startswith("unlock:") for n in world.names_of_keys()),
                       "the logins' end")
        return login(ALICE, "-i", str(key), password=False)

    yield log_in
    keys.unlink()


def test_a_login_without_a_password_opens_what_was_enrolled_for_it(shell, machine, by_key):
    assert shell.run(ADD_TPM + " --at-login", PASSWORDS).status == 0
    again = by_key()
    assert again.run(GET).text.strip() == "s3cret"
    assert '"operation":"unlockAtLogin","outcome":"allowed"' in world.audit_text()


def test_what_was_not_enrolled_for_logins_opens_at_none(shell, machine, by_key):
    assert shell.run(ADD_TPM, PASSWORDS).status == 0
    assert by_key().run(GET).status == 4


def test_a_login_goes_on_where_the_tpm_is_gone(shell, machine, by_key):
    assert shell.run(ADD_TPM + " --at-login", PASSWORDS).status == 0
    machine.stop()
    again = by_key()
    assert again.run(GET).status == 4
    assert again.run("keychainctl unlock", [ALICE[1]]).status == 0


@pytest.mark.parametrize("service", ["su", "sudo", "cron"])
def test_a_session_that_others_open_opens_nothing(service, shell, machine, by_key, daemon):
    assert shell.run(ADD_TPM + " --at-login", PASSWORDS).status == 0
    world.run("pkill", "-KILL", "-u", ALICE[0], check=False)
    world.wait_for(lambda: not any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the logins' end")
    world.write_service(service, "auth required pam_permit.so\n" + world.SESSION_STACK)
    world.run("pamtester", service, ALICE[0], "open_session")
    world.wait_for(lambda: f"through {service}" in daemon.log(), "the session")
    # Answered when all that a login began has ended.
    world.as_user(ALICE[0], world.CONTROL, "status")
    assert not any(n.startswith("unlock:") for n in world.names_of_keys())
    (refused,) = unlocks_at_login(daemon)
    assert refused["outcome"] == "forbidden"
    assert refused["because"] == ["base.unlock-own-logins"]
    assert json.loads(refused["request"])["subject"]["pam-service"] == service


# What the administrator says of it.


def unlocks_at_login(daemon):
    daemon.stop()
    lines = world.audit_text().splitlines()
    return [record for record in map(json.loads, lines) if record["operation"] == "unlockAtLogin"]


@pytest.fixture
def rule(daemon):
    """Puts a rule about unlocking in force."""
    file = pathlib.Path("/etc/keychain/policies.d/50-unlock.yaml")

    def write(text):
        before = daemon.log().count("rules in force")
        file.write_text(f"policy: v1\nname: unlock\nrules:\n  - {{id: site.unlock, {text}}}\n")
        world.wait_for(lambda: daemon.log().count("rules in force") > before, "the policy")

    yield write
    file.unlink()


def enter(service):
    """A session that PAM let in without a password."""
    world.write_service(f"keychain-test-{service}", world.SESSION_STACK)
    host = subprocess.Popen(
        ["/usr/bin/python3", pathlib.Path(__file__).with_name("pam_host.py"), service, ALICE[0]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    host.stdin.write("\n")
    host.stdin.flush()
    assert host.stdout.readline().strip() == "open"
    # Answered when all that a login began has ended.
    world.as_user(ALICE[0], world.CONTROL, "status")
    host.stdin.close()
    host.wait(10)


FORBIDDEN = "forbid: Not here, operations: unlock, "


def test_the_policy_says_which_logins_open_it_and_with_what(shell, machine, rule, daemon):
    assert shell.run(ADD_TPM + " --at-login", PASSWORDS).status == 0
    rule(FORBIDDEN + "subject: {pam-service: keychain-test-kiosk}")
    enter("kiosk")
    rule(FORBIDDEN + "resource: {protector: tpm2}, subject: {user: kc-alice}")
    enter("door")
    rule("require: presence, operations: unlock")
    enter("door")
    rule(FORBIDDEN + "when: {remote: true}")
    enter("door")
    found = [(record["outcome"], record["because"]) for record in unlocks_at_login(daemon)]
    assert found == [("forbidden", ["site.unlock"]), ("forbidden", ["site.unlock"]),
                     ("interactionNotAllowed", []), ("allowed", [])]
