# SPDX-License-Identifier: Apache-2.0
"""git, docker, AWS' tools, Python's keyring and ssh with their passwords in the keychain: each helper
with the tool that it is for."""

import json
import os
import re
import shutil

import pytest

import world
from conftest import ALICE
from servers import DOCKER, CargoRegistry, GitServer, Registry

BIN = world.PREFIX / "bin"
PASSWORD = "g1t-s3cret"
CHOICE = r"\[a\]lways: ?$"


@pytest.fixture
def shell(login):
    return login()


@pytest.fixture
def git_server(tmp_path):
    server = GitServer(tmp_path, PASSWORD)
    yield server
    server.stop()


@pytest.fixture
def kept(shell, git_server):
    """A shell in which git has been asked once."""
    assert shell.run("git config --global credential.helper keychain").status == 0
    asked = shell.run(f"rm -rf one two three; git clone -q {git_server.address()} one", [PASSWORD])
    assert asked.status == 0, asked
    return shell


def needs(path, what):
    """Only what scripts/install-dependencies could fetch is tried."""
    if not os.path.exists(path):
        pytest.skip(f"{what} could not be fetched")


def clone(shell, address, folder):
    return shell.run(f"rm -rf {folder}; GIT_TERMINAL_PROMPT=0 git clone -q {address} {folder}")


def test_git_asks_once_and_no_file_has_the_password(kept, git_server):
    assert clone(kept, git_server.address(), "two").status == 0
    # Without a name in the address, the one that is kept is used.
    assert clone(kept, git_server.address(user=None), "three").status == 0
    assert kept.run(f"grep -r {PASSWORD} .").status == 1


def test_what_renews_a_password_outlives_a_git_that_does_not_know_of_it(shell, git_server):
    """Versions before 2.41 give back the name and the password alone."""
    address = f"protocol=http\\nhost=127.0.0.1:{git_server.port}\\nusername=me\\n"
    more = "password_expiry_utc=4070908800\\noauth_refresh_token=r3fresh\\n"
    for said in (f"password={PASSWORD}\\n{more}", f"password={PASSWORD}\\n"):
        assert shell.run(f"printf '{address}{said}' | git-credential-keychain store").status == 0
        got = shell.run(f"printf '{address}' | git-credential-keychain get").text
        assert f"password={PASSWORD}\n" in got and "oauth_refresh_token=r3fresh\n" in got, got
        assert "password_expiry_utc=4070908800\n" in got
    assert shell.run(f"printf '{address}password=new\\n' | git-credential-keychain store").status == 0
    got = shell.run(f"printf '{address}' | git-credential-keychain get").text
    assert "password=new\n" in got and "oauth" not in got


def test_security_shows_what_git_keeps(kept, git_server):
    shown = kept.run(f"security find-internet-password -s 127.0.0.1 -P {git_server.port} -a me -r http -w",
                     [ALICE[1]])
    assert shown.status == 0 and PASSWORD in shown.text, shown


def test_a_refused_password_is_forgotten(kept, git_server):
    git_server.password = "another"
    assert clone(kept, git_server.address(), "two").status != 0
    refused = list(git_server.refused)
    assert set(refused) == {PASSWORD}
    git_server.password = PASSWORD
    # It would be taken now; there is none to give.
    assert clone(kept, git_server.address(), "two").status != 0
    assert git_server.refused == refused
    assert kept.run(f"git clone -q {git_server.address()} three", [PASSWORD]).status == 0


def test_a_locked_keychain_ends_nothing(kept, git_server):
    assert kept.run("keychainctl lock").status == 0
    # The helper would have to ask, and there is no terminal.
    failed = kept.run(f"setsid -w git clone -q {git_server.address()} two </dev/null")
    assert failed.status != 0 and "keychain" in failed.text
    assert kept.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert clone(kept, git_server.address(), "two").status == 0


def asks(shell, command):
    """The question that another program's look for an item leads to, and its answer."""
    shell.send(f"{command}; echo \"<status $?>\"")
    shell.terminal.expect(f"(?m){CHOICE}")
    return shell.terminal.before


def ended(shell):
    shell.terminal.expect(r"<status (\d+)>\r\n")
    said, found = shell.terminal.before, int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    return world.Result(found, said)


def lets_in(shell, command):
    """Answers the question with always."""
    question = asks(shell, command)
    shell.terminal.sendline("always")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendline(ALICE[1])
    return question.replace("\r\n", "\n"), ended(shell)


def test_what_another_program_keeps_is_asked_about_once_and_taken_back(shell, git_server):
    shell.run("git config --global credential.helper keychain")
    added = shell.run(f"security add-internet-password -s 127.0.0.1 -P {git_server.port} -a me -r http"
                      f" -w {PASSWORD} -T ''")
    assert added.status == 0, added
    command = f"rm -rf two; GIT_TERMINAL_PROMPT=0 git clone -q {git_server.address()} two"
    question, cloned = lets_in(shell, command)
    assert f"{BIN}/git-credential-keychain wants to read the keychain item" in question
    assert f"The item belongs to “{BIN}/security”" in question
    assert cloned.status == 0, cloned
    assert shell.run(command).status == 0
    # git has given the password back twice, and no copy was made of it.
    removed = shell.run("security find-internet-password -s 127.0.0.1 >/dev/null; keychainctl access remove"
                        " internet-password --server 127.0.0.1 --account me"
                        f" --program {BIN}/git-credential-keychain", [ALICE[1]] * 2)
    assert removed.status == 0, removed
    asks(shell, command)
    shell.terminal.sendline("deny")
    assert ended(shell).status != 0


def test_helpers_have_items_of_their_own(kept, git_server):
    get = kept.run(f"printf http://127.0.0.1:{git_server.port} | docker-credential-keychain get")
    assert (get.status, get.text.strip()) == (1, "credentials not found in native keychain")


def git_s_own_test(run, helper):
    """t0303 of git's source, beside the git of the system."""
    needs(world.TOP / ".deps/git-test", "git's own test")
    folder = world.TOOLS / "git-test"
    shutil.copytree(world.TOP / ".deps/git-test", folder)
    (folder / "GIT-BUILD-OPTIONS").write_text("SHELL_PATH=/bin/sh\nPERL_PATH=/usr/bin/perl\nDIFF=diff\n")
    (folder / "templates/blt").mkdir(parents=True)
    program = folder / "t/helper/test-tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    try:
        return run(f"cd {folder}/t; GIT_TEST_CHAIN_LINT=0 GIT_TEST_EXT_CHAIN_LINT=0"
                   " GIT_TEST_INSTALLED=/usr/bin TEST_OUTPUT_DIRECTORY=$HOME/t0303"
                   f" GIT_TEST_CREDENTIAL_HELPER={helper} sh t0303-credential-external.sh; cd")
    finally:
        shutil.rmtree(folder)


def test_git_s_own_test_of_helpers_passes(shell, tools):
    done = git_s_own_test(shell.run, "keychain")
    assert "# passed all 12 test(s)" in done.text, done.text


@pytest.fixture
def docker(shell, tools, tmp_path):
    needs(DOCKER, "docker")
    folder = world.TOOLS / "docker"
    folder.mkdir()
    world.run("mount", "--bind", DOCKER, folder)
    registry = Registry(tmp_path)
    shell.run("""mkdir -p .docker; echo '{"credsStore":"keychain"}' > .docker/config.json""")
    # Beside no engine docker speaks to the registry itself, where it can do without one.
    shell.run(f"PATH={folder}:$PATH; export DOCKER_HOST=unix:///nonexistent")
    yield registry
    registry.stop()
    world.run("umount", folder)
    folder.rmdir()


def test_docker_logs_in_once(shell, docker):
    login = f"docker login {docker.address}"
    wrong = shell.run(f"printf wrong | {login} -u {docker.USER} --password-stdin")
    assert wrong.status != 0 and shell.run("docker-credential-keychain list").text.strip() == "{}"
    first = shell.run(f"printf {docker.PASSWORD} | {login} -u {docker.USER} --password-stdin")
    assert first.status == 0 and "Login Succeeded" in first.text, first
    # Let in, it learns that there is no such image; that is more than strangers learn.
    look = f"docker manifest inspect --insecure {docker.address}/nothing:latest"
    assert "no such manifest" in shell.run(look).text
    assert shell.run(f"grep -r {docker.PASSWORD} .").status == 1
    assert json.loads(shell.run("docker-credential-keychain list").text) == {docker.address: docker.USER}
    assert shell.run(f"docker logout {docker.address}").status == 0
    assert shell.run("docker-credential-keychain list").text.strip() == "{}"
    assert "no such manifest" not in shell.run(look).text


def docker_logins(shell, *commands):
    """What the helper says to each of docker's words, `ACTION INPUT`."""
    return [shell.run(f"printf '{said}' | docker-credential-keychain {action}")
            for action, said in (command.split(" ", 1) for command in commands)]


def docker_login(user, secret):
    return json.dumps({"ServerURL": "registry.example", "Username": user, "Secret": secret})


def test_another_user_s_login_takes_the_place_of_one_only_once_it_is_kept(shell):
    stored, = docker_logins(shell, "store " + docker_login("me", "one"))
    assert stored.status == 0, stored
    # A locked keychain takes nothing, and there is no terminal to unlock it on.
    assert shell.run("keychainctl lock").status == 0
    failed = shell.run(f"printf '{docker_login('you', 'two')}' | setsid -w docker-credential-keychain store")
    assert failed.status == 1, failed
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    got, stored, again, listed = docker_logins(
        shell, "get registry.example", "store " + docker_login("you", "two"), "get registry.example",
        "list ")
    assert json.loads(got.text)["Username"] == "me" and stored.status == 0
    assert json.loads(again.text)["Secret"] == "two"
    assert json.loads(listed.text) == {"registry.example": "you"}


def test_docker_deletes_no_login_of_another_program_s(shell):
    added = shell.run("security add-internet-password -s registry.example -a them -r htps -l 'Docker"
                      f" Credentials' -w theirs -T {BIN}/docker-credential-keychain")
    assert added.status == 0, added
    got, stored, own, erased, left = docker_logins(
        shell, "get registry.example", "store " + docker_login("me", "mine"), "get registry.example",
        "erase registry.example", "get registry.example")
    assert json.loads(got.text)["Secret"] == "theirs"
    assert stored.status == 0 and json.loads(own.text)["Secret"] == "mine", (stored, own)
    assert erased.status == 1 and "another program" in erased.text, erased
    assert json.loads(left.text)["Secret"] == "theirs"


@pytest.fixture(scope="module")
def modules(prepared, tools):
    """keyring, and what the tests of it need."""
    needs(world.TOP / ".deps/python/versions", "Python's keyring")
    folder = world.TOOLS / "python"
    folder.mkdir()
    world.run("mount", "--bind", world.TOP / ".deps/python", folder)
    shutil.copy(world.TOP / "python/tests/test_backend.py", world.TOOLS)
    yield folder
    world.run("umount", folder)
    folder.rmdir()


@pytest.fixture
def python(shell, modules):
    """How a user runs these modules and the project's own package, installed by the words of the guide:
    by the user, out of a folder that the user can't write to."""
    guide = (world.TOP / "docs/guide/helpers.md").read_text()
    copy, install = re.findall(r"^\$ ((?:cp -r|pip install) .*keyring-keychain)", guide, re.MULTILINE)
    assert shell.run(f"touch {world.PREFIX}/share/keychain/python/x").status != 0
    copied = shell.run(f"rm -rf keyring-keychain site; {copy.replace('/usr/local', str(world.PREFIX))}")
    assert copied.status == 0, copied
    # Without the network, and beside what the system has.
    installed = shell.run(f"/usr/bin/python3 -m {install} --quiet --no-index --no-deps"
                          " --no-build-isolation --target site", seconds=4 * world.PATIENCE)
    assert installed.status == 0, installed
    return f"PYTHONPATH=$HOME/site:{modules} PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3"


def test_keyring_s_own_tests_of_backends_pass(shell, python):
    done = shell.run(f"{python} -m pytest -q -p no:cacheprovider {world.TOOLS}/test_backend.py",
                     seconds=4 * world.PATIENCE)
    assert done.status == 0, done.text
    assert " passed" in done.text and " skipped" not in done.text


def test_python_s_keyring_takes_the_keychain_by_itself(shell, python):
    assert shell.run(f"{python} -m keyring set pypi me", ["pyp1-s3cret"]).status == 0
    got = shell.run(f"{python} -m keyring get pypi me")
    assert got.text.strip() == "pyp1-s3cret"
    assert shell.run("grep -r pyp1-s3cret .").status == 1
    assert "keyring_keychain" in shell.run(f"{python} -m keyring --list-backends").text
    assert shell.run(f"{python} -m keyring del pypi me").status == 0
    assert shell.run(f"{python} -m keyring get pypi me").status == 1


def test_aws_tools_get_their_keys(shell):
    needs("/usr/bin/aws", "AWS' command line")
    keys = {"AccessKeyId": "AKIA0", "SecretAccessKey": "aws/s3cret+", "SessionToken": "t0ken",
            "Expiration": "2099-01-01T00:00:00+00:00"}
    shell.run("mkdir -p .aws; printf '[profile work]\\ncredential_process = aws-credential-keychain get"
              " work\\n' > .aws/config")
    aws = "AWS_EC2_METADATA_DISABLED=true /usr/bin/aws configure export-credentials --profile work"
    assert shell.run(aws).status != 0
    stored = shell.run(f"printf '{json.dumps({'Credentials': keys})}' | aws-credential-keychain store work")
    assert stored.status == 0, stored
    exported = shell.run(aws)
    assert exported.status == 0, exported
    assert json.loads(exported.text) == {"Version": 1, **keys}
    assert shell.run("grep -rF s3cret+ .").status == 1


def test_aws_keys_are_asked_for_at_a_terminal(shell):
    shell.send("aws-credential-keychain store; echo \"<status $?>\"")
    shell.terminal.expect("Access key ID of default: ")
    shell.terminal.sendline("AKIA1")
    shell.terminal.expect("Secret access key: ")
    shell.terminal.sendline("aws-s3cret")
    stored = ended(shell)
    assert stored.status == 0 and "aws-s3cret" not in stored.text
    assert json.loads(shell.run("aws-credential-keychain get").text) == {
        "Version": 1, "AccessKeyId": "AKIA1", "SecretAccessKey": "aws-s3cret"}


def add_key(shell, *answers):
    """ssh-add with this askpass, and answers to what it asks on the terminal."""
    shell.send("ssh-add $HOME/key; echo \"<status $?>\"")
    for question, answer in answers:
        shell.terminal.expect_exact(question)
        shell.terminal.sendline(answer)
    return ended(shell)


def test_ssh_add_asks_for_a_passphrase_once_and_again_when_it_changed(shell):
    shell.run("rm -f key key.pub; ssh-keygen -q -t ed25519 -a 1 -N first-pass -f key")
    # Each login has a folder for what lasts as long; there is no logind here that makes one.
    shell.run("export XDG_RUNTIME_DIR=$HOME/runtime; mkdir -pm 0700 $XDG_RUNTIME_DIR")
    shell.run("eval $(ssh-agent); export SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=$(command -v keychain-askpass)")
    keep = "Keep it in the keychain? [y/N] "
    passphrase = "Enter passphrase for"
    first = add_key(shell, (passphrase, "first-pass"), (keep, "y"))
    assert first.status == 0 and "first-pass" not in first.text, first
    shell.run("ssh-add -qD")
    again = add_key(shell)
    assert again.status == 0 and "Identity added" in again.text, again
    assert shell.run("grep -r first-pass .").status == 1
    # The kept one is wrong now. It is not given twice.
    shell.run("ssh-add -qD; ssh-keygen -q -p -P first-pass -N second-pass -a 1 -f key")
    changed = add_key(shell, ("Bad passphrase, try again for", "second-pass"), (keep, "y"))
    assert changed.status == 0, changed
    shell.run("ssh-add -qD")
    assert add_key(shell).status == 0
    forgotten = shell.run('keychain-askpass --forget "Enter passphrase for $HOME/key: "')
    assert forgotten.status == 0, forgotten
    shell.run("ssh-add -qD")
    assert add_key(shell, (passphrase, "second-pass"), (keep, "n")).status == 0
    shell.run("ssh-add -qD")
    assert add_key(shell, (passphrase, "second-pass"), (keep, "n")).status == 0
    shell.run("kill $SSH_AGENT_PID")


def wrong_passwords(sshd):
    """How many of the user's the server has refused so far."""
    return (sshd.folder / "log").read_text().count(f"Failed password for {ALICE[0]} ")


def test_ssh_is_not_given_the_same_wrong_password_twice(shell, sshd):
    """ssh asks in the same words three times."""
    shell.run("export XDG_RUNTIME_DIR=$HOME/runtime; mkdir -pm 0700 $XDG_RUNTIME_DIR")
    shell.run("export SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=$(command -v keychain-askpass)")
    question = f"{ALICE[0]}@127.0.0.1's password: "
    shell.send(f"keychain-askpass --store \"{question}\"; echo \"<status $?>\"")
    shell.terminal.expect_exact(question)
    shell.terminal.sendline("wrong")
    assert ended(shell).status == 0
    before = wrong_passwords(sshd)
    shell.send(f"ssh -F none -p {sshd.port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
               f" -o LogLevel=ERROR {ALICE[0]}@127.0.0.1 true; echo \"<status $?>\"")
    shell.terminal.expect_exact(question)
    shell.terminal.sendline(ALICE[1])
    shell.terminal.expect_exact("Keep it in the keychain? [y/N] ")
    shell.terminal.sendline("n")
    assert ended(shell).status == 0
    # The kept one was given, and once only.
    assert wrong_passwords(sshd) == before + 1


def test_what_sudo_asks_for_is_not_offered_to_be_kept(shell):
    prompt = f"[sudo] password for {ALICE[0]}: "
    shell.send(f"keychain-askpass '{prompt}' | wc -c; echo \"<status $?>\"")
    shell.terminal.expect_exact(prompt)
    shell.terminal.sendline(ALICE[1])
    asked = ended(shell)
    assert asked.text.split() == [str(len(ALICE[1]) + 1)] and "Keep it" not in asked.text


def cargo():
    """One that every user can run, and that knows of providers."""
    found = shutil.which("cargo", path="/usr/local/bin:/usr/bin:/bin")
    if found is None or os.stat(found).st_mode & 0o001 == 0:
        return None
    # rustup's takes that name too, and may have no cargo to start.
    version = re.match(r"cargo (\d+)\.(\d+)", world.run(found, "--version", check=False).stdout)
    return found if version and tuple(map(int, version.groups())) >= (1, 74) else None


@pytest.fixture
def registry():
    server = CargoRegistry()
    yield server
    server.stop()


@pytest.mark.skipif(cargo() is None, reason="no cargo of version 1.74 or later for all users")
def test_cargo_keeps_a_token(shell, registry):
    """With a registry of the test's own: crates.io would have to be reached."""
    shell.run("mkdir -p .cargo; printf '[registry]\\nglobal-credential-providers ="
              " [\"cargo-credential-keychain\"]\\n[registries.mine]\\nindex ="
              f" \"sparse+{registry.address}/index/\"\\n' > .cargo/config.toml")
    search = f"{cargo()} search --registry mine nothing"
    assert shell.run(search).status != 0
    kept = shell.run(f"printf {registry.TOKEN} | {cargo()} login --registry mine")
    assert kept.status == 0, kept
    assert shell.run(f"grep -r {registry.TOKEN} .").status == 1
    found = shell.run(search)
    assert found.status == 0, found
    assert shell.run(f"{cargo()} logout --registry mine").status == 0
    assert shell.run(search).status != 0
