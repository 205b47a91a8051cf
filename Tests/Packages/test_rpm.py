# SPDX-License-Identifier: Apache-2.0
"""packaging/rpm, built here by the real rpmbuild of what `make build` made: not installed, since this
machine's packages are dpkg's."""

import os
import pathlib
import pwd
import re
import shutil
import sqlite3
import subprocess

import pytest

import world

SPEC = world.TOP / "packaging/rpm/keychain-services.spec"
MACROS = world.TOP / "Tests/Packages/fedora.macros"
NAMES = {"keychain-services", "keychain-services-pam", "keychain-services-tpm2",
         "keychain-services-fido2", "keychain-services-secrets"}
# "KCHS", by which SQLite's files are keychains.
APPLICATION = 0x4B434853

pytestmark = pytest.mark.skipif(shutil.which("rpmbuild") is None, reason="there is no rpmbuild")


def definitions(top):
    module = next(pathlib.Path("/usr/lib").glob("*/security/pam_permit.so")).parent
    chosen = {"_topdir": top, "_sourcedir": top, "_pam_moduledir": module,
              "_binary_payload": "w0.gzdio", "_dbpath": top / "db"}
    return [f"--load={MACROS}",
            *(word for name, value in chosen.items() for word in ("-D", f"{name} {value}"))]


@pytest.fixture(scope="module")
def elsewhere():
    """Not Debian: so the files are those of other distributions."""
    version = pathlib.Path("/etc/debian_version")
    hidden = version.with_name("debian_version.hidden")
    version.rename(hidden)
    yield
    hidden.rename(version)


@pytest.fixture(scope="module")
def rpms(elsewhere, tmp_path_factory):
    top = tmp_path_factory.mktemp("rpm")
    tree = top / "keychain-services-0.1.0~dev"
    tree.mkdir()
    names = world.run("git", "-c", f"safe.directory={world.TOP}", "ls-files", "-z", "--cached",
                      "--others", "--exclude-standard", cwd=world.TOP).stdout.split("\0")
    names = [name for name in names if name and (world.TOP / name).exists()]
    subprocess.run(["cp", "--parents", "--archive", "--target-directory", tree, "--", *names],
                   check=True, cwd=world.TOP)
    (tree / ".build").symlink_to((world.TOP / ".build").resolve())
    for part in ("pam-module", "starter", "audit-keeper"):
        (tree / part / "build").symlink_to((world.TOP / part / "build").resolve())
    world.run("tar", "-C", top, "-czf", f"{tree}.tar.gz", tree.name)
    shutil.copy(world.TOP / "packaging/sysusers.d/keychain.conf", top)
    # Not there with --with built, where nothing asks for it.
    (top / "keychain-services-0.1.0~dev-packages.tar.gz").touch()
    done = subprocess.run(["rpmbuild", "-bb", "--nodeps", "--with", "built", *definitions(top), SPEC],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, "HOME": str(top)})
    assert done.returncode == 0, done.stdout[-3000:]
    found = {told(path, "%{NAME}"): path for path in (top / "RPMS").rglob("*.rpm")}
    assert found.keys() == NAMES
    return found


def told(package, form):
    return world.run("rpm", "-qp", "--nosignature", "--qf", form, package).stdout


def test_the_spec_is_understood_without_a_warning(tmp_path):
    done = world.run("rpmspec", *definitions(tmp_path), "-P", SPEC)
    assert done.stderr == "" and "%{" not in done.stdout.split("%prep")[0]
    if shutil.which("rpmlint"):
        said = world.run("rpmlint", "-r", SPEC.with_suffix(".rpmlintrc"), SPEC, check=False).stdout
        assert " 0 errors" in said, said
        # Of RPM before version 4.6.
        assert [line for line in said.splitlines()
                if " W: " in line and "no-buildroot-tag" not in line] == [], said


def test_the_packages_have_what_make_install_installs_and_nothing_else(rpms, tmp_path):
    # The groups that files belong to.
    world.run("systemd-sysusers", world.TOP / "packaging/sysusers.d/keychain.conf")
    world.run("make", "-s", "install", "prefix=/usr", f"DESTDIR={tmp_path}", cwd=world.TOP)
    wanted = {f"/{path.relative_to(tmp_path)}": oct(path.stat().st_mode & 0o7777)
              for path in tmp_path.rglob("*") if not path.is_dir()}
    found = {}
    for package in rpms.values():
        for line in told(package, "[%{FILENAMES} %{FILEMODES} %{FILEUSERNAME} %{FILEGROUPNAME}\n]"
                         ).splitlines():
            path, mode, user, group = line.split()
            # Folders, and what a package says about itself and its programs.
            if int(mode) & 0o170000 == 0o040000 or re.match(
                    "/usr/lib/.build-id/|/usr/share/(doc|licenses)/keychain-services", path):
                continue
            assert path not in found, path
            found[path.removesuffix(".gz")] = oct(int(mode) & 0o7777)
            assert user == "root", line
            assert group == ("root" if not int(mode) & 0o2000 else
                             "_keychain-prompt" if path.endswith("prompter") else
                             "_keychain-secrets"), line
    assert found == wanted
    assert "/usr/share/keychain/authselect/add-feature" in wanted
    assert not any("pam-configs" in path or "vendor-completions" in path for path in wanted)


def test_no_package_is_unpacked_that_cannot_read_a_keychain(rpms):
    folder = world.STATE / "65000"
    folder.mkdir(parents=True)
    try:
        keychain = folder / "login.keychain"
        for beyond, is_refused in ((0, False), (1, True)):
            keychain.unlink(missing_ok=True)
            database = sqlite3.connect(keychain)
            number = int(world.run("sed", "-n", r"s/^%global format //p", SPEC).stdout) + beyond
            database.executescript(f"PRAGMA application_id = {APPLICATION};"
                                   f"PRAGMA user_version = {number}; CREATE TABLE one (two);")
            database.close()
            for name, package in rpms.items():
                script = told(package, "%{PREIN}")
                done = world.run("sh", "-s", "1", input=script, check=False)
                assert (done.returncode != 0) == is_refused, (name, number, done)
                assert (str(keychain) in done.stderr) == is_refused, (name, done)
    finally:
        shutil.rmtree(folder)


def test_an_upgrade_moves_earlier_records_to_what_keeps_the_audit(rpms):
    world.run("useradd", "--system", "_keychain-audit", check=False)
    keeper = pwd.getpwnam("_keychain-audit")
    audit = world.STATE / "audit"
    audit.mkdir(parents=True, exist_ok=True)
    (world.STATE / "audit.jsonl").write_text("earlier")
    (world.STATE / "audit.jsonl.1").symlink_to("/etc/passwd")
    try:
        done = world.run("sh", "-s", "2", input=told(rpms["keychain-services"], "%{POSTIN}"))
        assert done.returncode == 0, done
        assert (audit / "earlier.jsonl").read_text() == "earlier"
        assert (audit / "earlier.jsonl").stat().st_uid == keeper.pw_uid
        assert not (audit / "earlier.jsonl.1").exists()
        assert os.stat("/etc/passwd").st_uid == 0
    finally:
        (world.STATE / "audit.jsonl.1").unlink()
        (audit / "earlier.jsonl").unlink(missing_ok=True)


def test_units_and_accounts_are_looked_after(rpms):
    main = world.run("rpm", "-qp", "--nosignature", "--scripts", rpms["keychain-services"]).stdout
    # With the installation and with the removal.
    for unit in os.listdir(world.TOP / "packaging/systemd"):
        if unit.endswith(".slice") or "@" in unit:
            # Its socket, or a unit in it, brings it.
            continue
        assert len(re.findall(rf"(?<![\w-]){re.escape(unit)}", main)) >= 2, unit
    assert "groupadd" in main
    for name in NAMES - {"keychain-services"}:
        needed = world.run("rpm", "-qp", "--nosignature", "--requires", rpms[name]).stdout
        # One library for all programs: of this version alone.
        assert "keychain-services = 0.1.0~dev-1" in needed, needed
        assert "libkeychain." not in needed, needed
