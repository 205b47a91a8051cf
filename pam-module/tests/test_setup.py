# SPDX-License-Identifier: Apache-2.0
"""How distributions put the module into their services: Debian's pam-auth-update, and a feature for
authselect. The real pam-auth-update runs, on /etc and /var that are this test's own."""

import os
import re
import shutil
import subprocess

from fake_daemon import FakeDaemon
from registry import SUCCESS, Skip, codes, test
from world import ALICE, PASSWORD

PACKAGING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging")
PROFILE = os.path.join(PACKAGING, "pam-configs/keychain")
COMMON = ("auth", "account", "session", "session-noninteractive", "password")
KIND = {name: name.split("-")[0] for name in COMMON}
# In a mount namespace below the world's: what is installed here is gone with the command.
PRIVATE = """
set -e
mount -t tmpfs keychain-setup "$1"
mkdir "$1/var" "$1/var.work" "$1/configs"
mount -t overlay -o "lowerdir=/var,upperdir=$1/var,workdir=$1/var.work" overlay /var
cp /usr/share/pam-configs/unix /usr/share/pam-configs/systemd "$1/configs"
cp "$2" "$1/configs/keychain"
mount --bind "$1/configs" /usr/share/pam-configs
export DEBIAN_FRONTEND=noninteractive
pam-auth-update --package --force
for name in auth account session session-noninteractive password; do
    cp "/etc/pam.d/common-$name" "$3/with-$name"
done
rm "$1/configs/keychain"
pam-auth-update --package --remove keychain
for name in auth account session session-noninteractive password; do
    cp "/etc/pam.d/common-$name" "$3/without-$name"
done
"""


def update(world, profile):
    """The services' lines with the profile, and after its removal, by the real command."""
    if not shutil.which("pam-auth-update"):
        raise Skip("no pam-auth-update")
    for name in ("setup", "setup-out"):
        path = os.path.join(world.root, name)
        shutil.rmtree(path, True)
        os.mkdir(path)
    before = set(os.listdir(world.services))
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", PRIVATE, "sh",
         os.path.join(world.root, "setup"), profile, os.path.join(world.root, "setup-out")],
        capture_output=True, timeout=120)
    assert done.returncode == 0, done
    for name in set(os.listdir(world.services)) - before:
        os.unlink(os.path.join(world.services, name))
    return ({name: lines(os.path.join(world.root, "setup-out", f"{when}-{name}"))
             for name in COMMON} for when in ("with", "without"))


def lines(path):
    with open(path) as file:
        return [" ".join(line.split()) for line in file if line.strip() and line[0] != "#"]


def ours(stack):
    return [line for line in stack if "pam_keychain.so" in line]


@test("pam-auth-update: one optional line in each stack for people, behind what decides")
def _(world):
    with_us, without = update(world, PROFILE)
    for name in ("auth", "session", "password"):
        assert ours(with_us[name]) == [f"{name} optional pam_keychain.so"], with_us[name]
        stack = with_us[name]
        assert stack.index(ours(stack)[0]) > stack.index(f"{name} required pam_permit.so"), stack
    # Behind pam_systemd, which says what logind calls the session.
    session = with_us["session"]
    assert session.index("session optional pam_systemd.so") < session.index(ours(session)[0])
    # cron, sudo and services.
    assert not ours(with_us["session-noninteractive"]) and not ours(with_us["account"])
    for name in COMMON:
        assert not ours(without[name])
        assert [line for line in with_us[name] if line not in ours(with_us[name])] == without[name]


@test("pam-auth-update: a login, and a change of password, through the stacks that it writes")
def _(world):
    profile = os.path.join(world.root, "profile")
    with open(PROFILE) as file, open(profile, "w") as out:
        out.write(file.read().replace("pam_keychain.so", f"{world.module} socket={world.socket}"))
    with_us, _without = update(world, profile)
    world.service(*(line for name in ("auth", "account", "session", "password")
                    for line in with_us[name] if "pam_systemd" not in line))
    new = "an entirely new Passw0rd"
    with FakeDaemon(world.socket) as daemon:
        lines_seen = world.host("authenticate", "establish", "open", "close")
        wrong = world.host("authenticate", answers=("wrong",))
        changed = world.host(f"real={ALICE}", "change", answers=(PASSWORD, new, new))
    world.restore_passwords()
    steps = ("authenticate", "establish", "open", "close")
    assert codes(lines_seen, *steps) == [SUCCESS] * 4, lines_seen
    assert codes(wrong, "authenticate") != [SUCCESS]
    assert codes(changed, "change") == [SUCCESS], changed
    assert [(r["verb"], r["password"], r["new"]) for r in daemon.requests] == [
        ("open", PASSWORD, None), ("close", None, None), ("change", PASSWORD, new)]


def expand(template, features):
    """authselect's templates, as far as the fixture and the feature need them."""
    kept = []
    for line in template.splitlines():
        condition = re.search(r"\{(include|exclude) if \"([^\"]+)\"\}", line)
        if condition:
            if (condition[2] in features) != (condition[1] == "include"):
                continue
            line = line.replace(condition[0], "")
        if line.strip() and not line.startswith("#"):
            kept.append(" ".join(line.split()))
    return kept


# The shape of the profiles that Fedora ships.
TEMPLATES = {
    "postlogin": """
session    optional     pam_umask.so silent
session    [success=1 default=ignore]  pam_succeed_if.so quiet service !~ gdm* service !~ su*
session    [default=1]  pam_permit.so
session    optional     pam_permit.so
""",
    "system-auth": """
auth       required     pam_env.so
auth       sufficient   pam_unix.so nodelay
auth       required     pam_deny.so
account    required     pam_unix.so
password   sufficient   pam_unix.so
password   required     pam_deny.so
session    optional     pam_keyinit.so revoke
session    required     pam_limits.so
session    required     pam_unix.so
""",
}
TEMPLATES["password-auth"] = TEMPLATES["system-auth"]


def profile_with_feature(world):
    profile = os.path.join(world.root, "authselect")
    shutil.rmtree(profile, True)
    os.mkdir(profile)
    for name, text in TEMPLATES.items():
        with open(os.path.join(profile, name), "w") as file:
            file.write(text)
    with open(os.path.join(profile, "README"), "w") as file:
        file.write("A profile\n=========\n\nAVAILABLE OPTIONAL FEATURES\n")
    command = [os.path.join(PACKAGING, "authselect/add-feature"), profile]
    first = subprocess.run(command, capture_output=True, timeout=20)
    assert first.returncode == 0, first
    texts = {name: open(os.path.join(profile, name)).read() for name in os.listdir(profile)}
    second = subprocess.run(command, capture_output=True, timeout=20)
    assert second.returncode == 0, second
    # A second time changes nothing.
    assert texts == {name: open(os.path.join(profile, name)).read() for name in os.listdir(profile)}
    return texts


@test("authselect: without the feature a profile is what it was; with it, three optional lines more")
def _(world):
    texts = profile_with_feature(world)
    assert "with-keychain" in texts["README"]
    for name, template in TEMPLATES.items():
        assert expand(texts[name], ()) == expand(template, ())
        added = ours(expand(texts[name], ("with-keychain",)))
        kinds = ("auth", "password", "session") if name == "postlogin" else ()
        assert added == [f"{kind} optional pam_keychain.so" for kind in kinds], (name, added)


@test("authselect: a login, and a change of password, through the feature's stacks")
def _(world):
    texts = profile_with_feature(world)
    module = f"{world.module} socket={world.socket}"
    for name in TEMPLATES:
        world.service(*(line.replace("pam_keychain.so", module)
                        for line in expand(texts[name], ("with-keychain",))), name=name)
    # Fedora's login and passwd, as far as they matter here.
    world.service("auth substack system-auth", "auth include postlogin",
                  "account include system-auth",
                  "password substack system-auth", "password substack postlogin",
                  "session optional pam_keyinit.so force revoke", "session include system-auth",
                  "session include postlogin")
    new = "an entirely new Passw0rd"
    with FakeDaemon(world.socket) as daemon:
        done = world.host("authenticate", "open", "close")
        wrong = world.host("authenticate", answers=("wrong",))
        changed = world.host(f"real={ALICE}", "change", answers=(PASSWORD, new, new))
    world.restore_passwords()
    for name in TEMPLATES:
        os.unlink(os.path.join(world.services, name))
    assert codes(done, "authenticate", "open", "close") == [SUCCESS] * 3, done
    assert codes(wrong, "authenticate") != [SUCCESS]
    assert codes(changed, "change") == [SUCCESS], changed
    assert [(r["verb"], r["password"]) for r in daemon.requests] == [
        ("open", PASSWORD), ("close", None), ("change", PASSWORD)], daemon.requests


@test("systemd-user: the line of the manual opens a session without a password")
def _(world):
    manual = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../pam_keychain.8")
    with open(manual) as file:
        found = re.search(r"pam\.d/systemd\\-user.*?\n\.RS\n(-session.*?)\n\.RE", file.read(), re.S)
    line = " ".join(found[1].split())
    world.service(world.any_password, world.line("auth"), "session required pam_permit.so",
                  line.replace("pam_keychain.so", f"{world.module} socket={world.socket}"))
    with FakeDaemon(world.socket) as daemon:
        opened = world.host("open", "keys", "close", "last-ticket")
    assert codes(opened, "open", "close") == [SUCCESS] * 2, opened
    assert [(r["verb"], r["password"]) for r in daemon.requests] == [
        ("open", None), ("close", None)]
    assert opened[-1][-1] == "gone"
