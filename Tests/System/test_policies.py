# SPDX-License-Identifier: Apache-2.0
"""What administrators write, enforced by a running daemon."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import time

import pytest

import world
from conftest import ALICE, BOB
from test_contexts import NOT_FOUND, heard, start

ADMIN = pathlib.Path("/etc/keychain/policies.d")
ADD = "printf {0}-s3cret | keychainctl add generic-password --service {0} --account me"
GET = "keychainctl get generic-password --service {0} --account me"
REFUSED = 8
PYTHON = os.path.realpath("/usr/bin/python3")


@pytest.fixture
def admin(daemon):
    """Writes a policy and waits until it is in force, or refused."""
    def write(text, name="50-test.yaml", takes=True):
        before = daemon.log().count("policies:")
        (ADMIN / name).write_text("policy: v1\nname: test\n" + text)
        world.wait_for(lambda: daemon.log().count("policies:") > before, "the policy")
        line = [line for line in daemon.log().splitlines() if "policies:" in line][-1]
        assert line.endswith("rules in force") == takes, daemon.log()
        return line

    ADMIN.mkdir(parents=True, exist_ok=True)
    yield write
    for file in ADMIN.iterdir():
        file.unlink()


@pytest.fixture
def shell(login):
    shell = login()
    for name in ("mail", "bank"):
        assert shell.run(ADD.format(name)).status == 0
    return shell


def audit(daemon):
    daemon.stop()
    return [json.loads(line) for line in world.audit_text().splitlines()]


def test_a_rule_forbids_and_the_audit_names_it(shell, admin, daemon):
    admin("""rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
""")
    answered = shell.run(GET.format("mail"))
    assert answered.status != 0 and "s3cret" not in answered.text
    assert "test.no-mail (/etc/keychain/policies.d/50-test.yaml:4)" in answered.text
    assert "bank-s3cret" in shell.run(GET.format("bank")).text
    shell.run("keychainctl list generic-password")
    records = audit(daemon)
    assert any(r["outcome"] == "forbidden" and r["because"] == ["test.no-mail"] for r in records)


def test_each_decision_has_its_revision_and_the_log_tells_what_changed_when(shell, admin, daemon):
    first = """rules:
  - {id: test.first, audit: full, resource: {service: mail}}
"""
    admin(first)
    assert "mail-s3cret" in shell.run(GET.format("mail")).text
    admin(first + "  - {id: test.second, forbid: No., resource: {service: mail}}\n")
    assert shell.run(GET.format("mail")).status != 0
    admin("rules: [nonsense]", takes=False)
    (ADMIN / "50-test.yaml").unlink()
    world.wait_for(lambda: "removed:" in world.run(world.CONTROL, "policy", "log").stdout, "the end")
    told = world.run(world.CONTROL, "policy", "log").stdout
    file = ADMIN / "50-test.yaml"
    for words in (f"added: {file} (", f"changed: {file} (", f"removed: {file}", "not taken: revision"):
        assert words in told, told
    records = audit(daemon)
    loads = [record for record in records if "loaded" in record]
    rules = loads[-1]["loaded"]["rules"]
    assert [load["loaded"]["rules"] for load in loads[-3:]] == [rules + 1, rules + 2, rules]
    judged = {record["because"][0]: record["policy"] for record in records
              if record["because"] and record["because"][0].startswith("test.")}
    assert judged["test.second"] == loads[-2]["policy"]
    full = [record["policy"] for record in records
            if record["operation"] == "copyMatching" and record["outcome"] == "allowed"]
    assert loads[-3]["policy"] in full


def test_a_rule_requires_what_the_item_does_not(shell, admin):
    admin("""rules:
  - id: test.bank-asks
    require: passcode
    operations: read-secret
    resource: {service: bank}
""")
    assert "bank-s3cret" in shell.run(GET.format("bank"), [ALICE[1]]).text
    assert "mail-s3cret" in shell.run(GET.format("mail")).text
    alone = shell.run("setsid -w " + GET.format("bank") + " </dev/null 2>&1")
    assert alone.status == 4 and "s3cret" not in alone.text


def test_only_an_update_that_changes_a_guarded_item_s_protection_asks(shell):
    update = ("keychainctl update generic-password --service {0} --new-comment {1} "
              "--new-accessible {1} --new-flags {2}")
    for accessible in ("when-unlocked", "after-first-unlock"):
        assert shell.run(update.format("mail", accessible, "none")).status == 0
    assert "after-first-unlock" in shell.run("keychainctl list generic-password --long").text
    add = ADD.format("safe") + " --flags user-presence"
    assert shell.run(add).status == 0
    weaken = update.format("safe", "always", "none")
    assert shell.run(weaken + " --no-prompt").status == 4
    assert shell.run(weaken, [ALICE[1]]).status == 0


def test_a_share_lets_another_program_read_what_it_names_and_no_more(shell, admin, tools):
    start(shell, "read:mail:A")
    assert heard(shell) == NOT_FOUND
    admin(f"""rules:
  - id: test.python-reads-mail
    share: Scripts read mail.
    operations: [read-secret, read-attributes]
    subject: {{exe: {PYTHON}, trusted-exe: true, user: {ALICE[0]}}}
    resource: {{access-group: "exe:{world.CONTROL}", service: mail}}
""")
    start(shell, "read:mail:A", "read:bank:A")
    # A share needs a strong field too: the user is one.
    assert heard(shell, 2) == ["<mail-s3cret>", NOT_FOUND]


def test_a_group_makes_programs_members(login, admin, tools):
    shell = login()
    admin(f"""groups:
  - id: test.office
    group: office
    members: [{{exe: ["{PYTHON}", "{world.CONTROL}"], trusted-exe: true, user: {ALICE[0]}}}]
    mode: write
""")
    add = ADD.format("plan") + " --group office"
    assert shell.run(add).status == 0, shell.run(add)
    start(shell, "read:plan:A")
    assert heard(shell) == "<plan-s3cret>"


def test_a_program_is_known_by_its_digest(shell, admin, tools):
    rule = """rules:
  - id: test.only-this-build
    forbid: Another build.
    operations: read-secret
    resource: {service: mail}
    unless: [{subject: {digest: "sha256:%s"}}]
"""
    admin(rule % hashlib.sha256(world.CONTROL.read_bytes()).hexdigest())
    assert "mail-s3cret" in shell.run(GET.format("mail")).text
    admin(rule % ("0" * 64))
    assert "s3cret" not in shell.run(GET.format("mail")).text


def test_in_a_closed_scope_nothing_happens_without_a_permit(shell, admin):
    admin("""closed:
  - id: test.closed
    operations: read-secret
    resource: {service: [mail, bank]}
rules:
  - id: test.bank-is-open
    permit: The bank is open.
    operations: read-secret
    subject: {user: %s}
    resource: {service: bank}
""" % ALICE[0])
    assert "s3cret" not in shell.run(GET.format("mail")).text
    assert "bank-s3cret" in shell.run(GET.format("bank")).text


def test_a_limit_counts_and_then_denies(shell, admin):
    admin("""rules:
  - id: test.twice
    limit: {rate: 2/1h, by: [user], then: deny}
    operations: read-secret
""")
    said = [shell.run(GET.format("mail")).status for _ in range(4)]
    assert said[:2] == [0, 0] and 0 not in said[2:], said


def test_a_complaining_rule_refuses_nothing(shell, admin):
    soon = time.strftime("%Y-%m-%d", time.localtime(time.time() + 30 * 86400))
    admin(f"""rules:
  - id: test.trial
    mode: complain
    expires: {soon}
    forbid: On trial.
    operations: read-secret
""")
    assert "mail-s3cret" in shell.run(GET.format("mail")).text


def test_what_was_decided_is_recorded_and_replayed_under_other_rules(shell, admin, daemon, tmp_path):
    soon = time.strftime("%Y-%m-%d", time.localtime(time.time() + 30 * 86400))
    admin(f"""closed:
  - id: test.closed
    operations: read-secret
    resource: {{service: mail}}
rules:
  - id: test.trial
    mode: complain
    expires: {soon}
    forbid: On trial.
    operations: read-secret
    resource: {{service: bank}}
""")
    assert shell.run(GET.format("mail")).status != 0
    assert shell.run(GET.format("bank")).status == 0
    records = [r for r in audit(daemon) if r["operation"] == "copyMatching" and "request" in r]
    denied, trial = [r for r in records if r["decision"] == "deny"], [r for r in records if "would" in r]
    assert denied and denied[0]["because"] == ["test.closed"] and trial[0]["would"] == "deny"
    request = json.loads(denied[0]["request"])
    assert request["subject"]["exe"] == str(world.CONTROL) and request["subject"]["trusted-exe"]
    # What the item is called is no rule's to have written down, but audit: full's.
    assert request["resource"]["service"] == "unknown!"
    assert "mail" not in denied[0]["request"] and "bank" not in json.dumps(trial)
    (tmp_path / "50-none.yaml").write_text(
        "policy: v1\nname: none\nrules:\n  - {id: t.no, forbid: no, operations: add}\n")
    replayed = world.run(world.CONTROL, "policy", "replay", "--since", "1h", "--state", world.STATE,
                         "--with", tmp_path).stdout
    assert "× allow, was deny: read-secret by exe:" in replayed, replayed
    assert "× deny because t.no, was allow: add" in replayed, replayed
    suggested = world.run(world.CONTROL, "policy", "suggest", "--since", "boot", "--state",
                          world.STATE, "--policies", ADMIN).stdout
    assert "permit: It was asked for and refused." in suggested and "# opens: " in suggested
    assert f'exe: "{world.CONTROL}", trusted-exe: true' in suggested
    assert "Nothing overrules test.trial." in suggested


def test_who_asks_for_another_program_s_group_is_suggested_a_share(shell, admin):
    admin("rules:\n  - id: test.x\n    forbid: no\n    operations: export\n")
    # The baseline lets the tools read and change what is there, and add nothing.
    assert shell.run(ADD.format("plan") + " --group unit:backup.service").status != 0
    suggested = world.run(world.CONTROL, "policy", "suggest", "--since", "boot", "--state",
                          world.STATE, "--policies", ADMIN).stdout
    assert "share: It was asked for and refused." in suggested, suggested
    assert f'exe: "{world.CONTROL}", trusted-exe: true' in suggested
    assert 'access-group: "unit:backup.service"' in suggested and "# wide: " in suggested
    assert "operations: [add]" in suggested


def test_a_redacted_attribute_is_in_no_answer(shell, admin):
    assert shell.run("keychainctl list generic-password --json").text.count('"me"') >= 2
    admin("""rules:
  - id: test.no-accounts
    redact: [account]
    operations: [read-attributes, read-secret]
""")
    assert '"me"' not in shell.run("keychainctl list generic-password --json").text


def test_a_broken_file_changes_nothing_and_is_said_with_its_place(shell, admin, daemon):
    forbid = """rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
"""
    admin(forbid)
    admin("rules:\n  - id: test.broken\n    forbit: x\n", name="60-broken.yaml", takes=False)
    assert "60-broken.yaml:" in daemon.log() and "error[KC" in daemon.log()
    assert shell.run(GET.format("mail")).status != 0
    assert "bank-s3cret" in shell.run(GET.format("bank")).text
    daemon.restart()
    # The last that could be used is in force after a restart as well.
    assert "the last that could be used" in daemon.log()
    assert shell.run(GET.format("mail")).status != 0


def test_where_no_policy_ever_worked_secrets_take_the_password(daemon, login, admin):
    shell = login()
    assert shell.run(ADD.format("mail")).status == 0
    daemon.stop()
    (world.STATE / "policy.last-good").unlink(missing_ok=True)
    shutil.rmtree(world.STATE / "policy.sources", ignore_errors=True)
    (ADMIN / "50-test.yaml").write_text("nonsense")
    daemon.start()
    answered = shell.run(GET.format("mail"), [ALICE[1]])
    assert "mail-s3cret" in answered.text and "assword" in answered.text


@pytest.mark.parametrize("damage", ["cut", "altered", "gone"])
def test_a_kept_policy_that_is_damaged_is_compiled_again_from_its_sources(
        damage, shell, admin, daemon):
    admin("""rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
""")
    daemon.stop()
    (ADMIN / "60-broken.yaml").write_text("nonsense")
    kept = world.STATE / "policy.last-good"
    whole = bytearray(kept.read_bytes())
    if damage == "gone":
        kept.unlink()
    else:
        whole[200] ^= 1
        kept.write_bytes(whole[:len(whole) // 2] if damage == "cut" else whole)
    daemon.start()
    assert "compiled again" in daemon.log(), daemon.log()
    assert re.search(r"policy.sources/\d/50-test.yaml: 1 rule", daemon.log()), daemon.log()
    assert shell.run(GET.format("mail")).status != 0
    assert "bank-s3cret" in shell.run(GET.format("bank"), [ALICE[1]]).text
    # No other user can put anything among them.
    for path in (world.STATE / "policy.sources").rglob("*"):
        facts = path.stat()
        assert facts.st_uid == 0 and not facts.st_mode & 0o022, path


def test_a_folder_that_is_made_later_is_noticed(shell, daemon):
    runtime = world.RUN / "policies.d"
    assert not runtime.exists()
    before = daemon.log().count("policies:")
    runtime.mkdir()
    time.sleep(0.5)
    (runtime / "50-late.yaml").write_text(
        "policy: v1\nname: late\nrules:\n  - id: late.no-mail\n    forbid: no\n"
        "    operations: read-secret\n    resource: {service: mail}\n")
    try:
        world.wait_for(lambda: daemon.log().count("policies:") > before, "the policy")
        assert shell.run(GET.format("mail")).status != 0
    finally:
        before = daemon.log().count("policies:")
        shutil.rmtree(runtime)
        world.wait_for(lambda: daemon.log().count("policies:") > before, "the policy")


@pytest.mark.parametrize("wrong", ["owner", "mode"])
def test_a_file_that_is_not_root_s_alone_is_not_taken(wrong, shell, admin, daemon):
    path = ADMIN / "50-test.yaml"
    draft = path.with_suffix(".draft")
    draft.write_text("policy: v1\nname: test\nrules:\n  - id: t.x\n    forbid: no\n")
    if wrong == "owner":
        os.chown(draft, world.pwd.getpwnam(ALICE[0]).pw_uid, 0)
    else:
        draft.chmod(0o666)
    before = daemon.log().count("policies:")
    draft.rename(path)
    world.wait_for(lambda: daemon.log().count("policies:") > before, "the policy")
    assert "not taken" in daemon.log()
    assert "mail-s3cret" in shell.run(GET.format("mail")).text


def test_reloading_drops_no_request(shell, admin, daemon):
    shell.send("for i in $(seq 60); do " + GET.format("mail") + " >/dev/null && echo read; done"
               " | sort | uniq -c; echo '<done>'")
    for number in range(5):
        os.kill(daemon.pid, 1)
        time.sleep(0.3)
    shell.terminal.expect("<done>")
    assert "60 read" in shell.terminal.before


@pytest.mark.parametrize("how", ["by root's word", "by the signal"])
def test_a_load_is_done_when_all_users_workers_judge_by_it(how, login, daemon, admin):
    shells = login(ALICE), login(BOB)
    for shell in shells:
        assert shell.run(ADD.format("mail")).status == 0
    workers = [daemon.worker(who[0]) for who in (ALICE, BOB)]
    for number in range(4):
        forbids = number % 2 == 0
        before = daemon.log().count("policies:")
        (ADMIN / "50-test.draft").write_text("policy: v1\nname: test\n" + (
            NO_MAIL if forbids else "rules: []\n"))
        (ADMIN / "50-test.draft").rename(ADMIN / "50-test.yaml")
        if how == "by root's word":
            assert world.run(world.CONTROL, "policy", "reload").returncode == 0
        else:
            os.kill(daemon.pid, 1)
            world.wait_for(lambda: daemon.log().count("policies:") > before, "the policy")
        # Each asks the worker that was there before.
        assert [shell.run(GET.format("mail")).status != 0 for shell in shells] == [forbids] * 2
    assert [daemon.worker(who[0]) for who in (ALICE, BOB)] == workers


NO_MAIL = """rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
"""


def test_the_tool_reaches_its_user_s_items_for_a_user_who_is_there(login, tools):
    # The baseline: who answers is there, for five minutes on that terminal.
    shell = login()
    start(shell, "add:script:0")
    assert heard(shell) == "<done>"
    get = "keychainctl get generic-password --service script"
    assert "s3cret" in shell.run(get, [ALICE[1]]).text
    assert "s3cret" in shell.run(get).text
    other = world.as_user(ALICE[0], world.CONTROL, "get", "generic-password", "--service", "script")
    assert "s3cret" not in other.stdout


def test_status_tells_what_is_in_force_and_only_root_reloads(shell, admin, daemon):
    admin("rules:\n  - id: test.x\n    forbid: no\n    operations: export\n")
    told = shell.run("keychainctl policy status")
    assert "50-test.yaml: 1 rule" in told.text and told.status == 0
    assert shell.run("keychainctl policy reload").status != 0
    assert "50-test.yaml" in world.run(world.CONTROL, "policy", "reload").stdout
    admin("nonsense", name="60-broken.yaml", takes=False)
    told = shell.run("keychainctl policy status")
    assert "60-broken.yaml" in told.text and told.status == 3
    assert world.run(world.CONTROL, "policy", "reload", check=False).returncode != 0


def test_status_tells_which_rule_stands_for_one_of_the_vendor_s(admin, daemon):
    admin("rules:\n  - id: test.acl\n    replaces: base.change-acl\n    require: companion\n"
          "    operations: change-acl\n")
    told = world.run(world.CONTROL, "policy", "status").stdout
    assert "replaced: base.change-acl by test.acl" in told


def test_what_was_proven_in_one_login_serves_no_other(shell, admin, login):
    # Not the password: that can be typed in both logins.
    second = pathlib.Path("/etc/pam.d/keychain-second")
    second.write_text("auth required pam_unix.so\naccount required pam_unix.so\n")
    time.sleep(2.1)  # so long a service is looked up no second time
    admin("""rules:
  - id: test.second
    require: {pam: keychain-second}
    within: 5m
    scope: session
    operations: read-secret
    resource: {service: bank}
""")
    quiet = "setsid -w " + GET.format("bank") + " </dev/null 2>&1"
    try:
        assert shell.run(quiet).status == 4
        assert "bank-s3cret" in shell.run(GET.format("bank"), [ALICE[1]]).text
        assert "bank-s3cret" in shell.run(quiet).text
        other = login(ALICE).run(quiet)
        assert other.status == 4 and "s3cret" not in other.text
    finally:
        second.unlink()


def test_the_service_tells_the_facts_of_a_process(login, admin):
    shell = login()
    pid = shell.run("sleep 600 & echo $!").text.split()[-1]
    told = shell.run(f"keychainctl policy facts {pid}")
    assert told.status == 0, told
    assert f"  user: {ALICE[0]}\n" in told.text.replace("\r", "")
    assert re.search(r"  exe: \S*(sleep|coreutils)\b", told.text) and "  uid: " in told.text
    # What explain takes is what the service tells.
    request = shell.run(f"keychainctl policy facts --json {pid}").text.strip().splitlines()[-1]
    assert json.loads(request)["subject"]["user"] == ALICE[0]
    # Others' processes are not there; root may ask about all.
    assert "there is no process 1 of yours" in shell.run("keychainctl policy facts 1").text
    assert "uid: 0" in world.run("keychainctl", "policy", "facts", "1").stdout
    assert world.run("keychainctl", "policy", "facts", "4194304", check=False).returncode == 3


def test_what_a_process_may_do_and_why_it_was_refused_is_explained(shell, admin):
    assert "no request was refused" in shell.run("keychainctl policy explain --last-denied").text
    admin("""rules:
  - id: test.no-mail
    forbid: No program reads mail here.
    operations: read-secret
    resource: {service: mail}
""")
    told = shell.run(
        "keychainctl policy explain --pid $$ --item '{\"service\": \"mail\"}'").text
    assert "decision: deny" in told and "test.no-mail" in told
    assert "decision: allow" in shell.run(
        "keychainctl policy explain --pid $$ --item '{\"service\": \"bank\"}'").text
    assert shell.run(GET.format("mail")).status != 0
    told = shell.run("keychainctl policy explain --last-denied").text
    assert "refused at " in told and "test.no-mail" in told and "decision: deny" in told
