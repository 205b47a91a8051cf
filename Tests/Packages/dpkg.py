# SPDX-License-Identifier: Apache-2.0
"""The packages, and dpkg: as it is, or killed at each step of its maintainer scripts."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "System"))
import world  # noqa: E402

FOLDER = pathlib.Path(os.environ["KEYCHAIN_PACKAGES"])
AGAIN = pathlib.Path(os.environ["KEYCHAIN_PACKAGES_AGAIN"])
NAMES = ("keychain-services", "libpam-keychain", "keychain-services-tpm2",
         "keychain-services-fido2", "keychain-services-secrets", "keychain-secret-service")
STACKS = ("common-auth", "common-session", "common-password")
KILLERS = pathlib.Path("/run/killers")
# What the maintainer scripts start.
STEPS = ("deb-systemd-helper", "dpkg-divert", "dpkg-statoverride", "find", "grep", "pam-auth-update", "perl",
         "rmdir", "systemd-sysusers", "systemd-tmpfiles")


def files(folder=FOLDER):
    return [next(folder.glob(f"{name}_*.deb")) for name in NAMES]


def dpkg(*arguments, check=True, path=None):
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
                   "PATH": path or os.environ["PATH"]}
    done = subprocess.run(["dpkg", "--force-unsafe-io", *map(str, arguments)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment)
    if check and done.returncode:
        raise AssertionError(done.stdout[-3000:])
    return done


def install():
    return dpkg("--install", *files())


def remove(*names, check=True):
    return dpkg("--remove", *(names or NAMES), check=check)


def purge():
    return dpkg("--purge", *NAMES)


def states():
    """Of each package that dpkg knows, what it says of it."""
    told = world.run("dpkg-query", "-W", "-f", "${Package} ${Status}\n", *NAMES, check=False).stdout
    return dict(line.split(" ", 1) for line in told.splitlines())


def are_as_installed():
    """Whether no test changed more of them than the keychains and the policies."""
    version = world.run("dpkg-deb", "--field", files()[0], "Version").stdout.strip()
    known = world.run("dpkg-query", "-W", "-f", "${Version}\n", *NAMES, check=False).stdout
    overrides = world.run("dpkg-statoverride", "--list", "*/keychain-*", check=False).stdout
    return (are_installed() and set(known.split()) == {version} and overrides.count(" 2755 ") == 2
            and len(diverted()) == 3 and stacks_with_the_module() == set(STACKS))


def are_installed():
    return states() == dict.fromkeys(NAMES, "install ok installed")


def owns(name):
    # Other lines tell what is diverted.
    return [pathlib.Path(line) for line in world.run("dpkg", "-L", name).stdout.splitlines()
            if line.startswith("/")]


def diverted():
    """What the packages put aside, and where it is then."""
    told = world.run("dpkg-divert", "--list").stdout
    return dict(re.findall(r"^diversion of (\S+) to (\S+) by keychain-\S+$", told, re.MULTILINE))


def stacks_with_the_module():
    return {name for name in os.listdir("/etc/pam.d")
            if not name.endswith(".pam-old") and re.search(
                r"^[^#\n]*pam_keychain\.so", pathlib.Path("/etc/pam.d", name).read_text(),
                re.MULTILINE)}


def module():
    return next(pathlib.Path("/usr/lib").glob("*/security/pam_permit.so")).with_name(
        "pam_keychain.so")


def answers(value):
    """What the administrator says beforehand about the keychains of a purged package."""
    world.run("debconf-set-selections",
              input=f"keychain-services keychain-services/purge-keychains boolean {value}\n")


def killed_at_each_step(*arguments, between=lambda: None, every=1):
    """dpkg again and again: the first time its scripts' first step kills its script, then the
    second (or only every third), until none does. Returns how many steps that were."""
    shutil.rmtree(KILLERS, ignore_errors=True)
    KILLERS.mkdir()
    for name in STEPS:
        program = KILLERS / name
        program.write_text(f"""#!/bin/sh
left=$(cat {KILLERS}/left)
[ "$left" != 0 ] || {{ kill -KILL "$PPID"; exit 1; }}
echo $((left - 1)) >{KILLERS}/left
exec {shutil.which(name)} "$@"
""")
        program.chmod(0o755)
    for steps in range(0, 1000, every):
        (KILLERS / "left").write_text(f"{steps}\n")
        done = dpkg(*arguments, check=False, path=f"{KILLERS}:{os.environ['PATH']}")
        between()
        if done.returncode == 0:
            return steps
        assert (KILLERS / "left").read_text() == "0\n", done.stdout[-3000:]
    raise AssertionError("it never ends")


def each_killed_at_each_step(operation, named, between=lambda: None, every=1):
    """The same for one package after the other, so that the scripts of each are killed at each of
    their steps: those of a package that is done would be passed over. Returns the steps of each."""
    return {name: killed_at_each_step(operation, what, between=between, every=every)
            for name, what in named.items()}


def newer(folder, version):
    """The same packages, as of a later version."""
    folder.mkdir()
    for package in files():
        tree = folder / "tree"
        world.run("dpkg-deb", "--raw-extract", package, tree)
        control = tree / "DEBIAN/control"
        old = re.search(r"^Version: (.*)$", control.read_text(), re.MULTILINE)[1]
        control.write_text(control.read_text().replace(old, version))
        world.run("dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, folder)
        shutil.rmtree(tree)
    return files(folder)


def format_of(keychain, number=None):
    """The number of a keychain's format, read or written as SQLite does."""
    connection = sqlite3.connect(keychain, isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    if number is not None:
        connection.execute(f"PRAGMA user_version = {number}")
    return connection, connection.execute("PRAGMA user_version").fetchone()[0]
