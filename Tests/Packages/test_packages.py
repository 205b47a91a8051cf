# SPDX-License-Identifier: Apache-2.0
"""Installed, upgraded, downgraded, removed and purged by dpkg, as an administrator does it."""

import grp
import hashlib
import os
import pathlib
import pwd
import re
import shutil
import stat
import subprocess
import tempfile

import dpkg
import pytest

import world
from conftest import ALICE

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
PROMPTER = pathlib.Path("/usr/libexec/keychain/keychain-prompter")
LIBRARIES = pathlib.Path("/usr/lib/keychain-services")
LARGEST = 40_000_000
# Whose scripts start something.
WITH_SCRIPTS = {"keychain-services", "libpam-keychain", "keychain-services-secrets"}
DEPUTY = pathlib.Path("/usr/libexec/keychain/keychain-secrets")
# What it has is not installed by `make install`, which changes nothing of other programs.
TAKES_OVER = "keychain-secret-service"


def state_of(path, below=pathlib.Path("/")):
    """Kind, mode, owners, and content but for programs, whose symbols Debian's strip takes and ours
    does otherwise."""
    told = (below / str(path).lstrip("/")).lstat()
    content = None
    if stat.S_ISREG(told.st_mode):
        read = (below / str(path).lstrip("/")).read_bytes()
        content = "program" if read.startswith(b"\x7fELF") else hashlib.sha256(read).hexdigest()
    return oct(told.st_mode), told.st_uid, told.st_gid, content


def keychain_of(name=ALICE[0]):
    return world.STATE / str(pwd.getpwnam(name).pw_uid) / "login.keychain"


def test_two_builds_give_the_same_bytes():
    for one, other in zip(dpkg.files(), dpkg.files(dpkg.AGAIN)):
        assert hashlib.sha256(one.read_bytes()).digest() == hashlib.sha256(
            other.read_bytes()).digest(), one.name


def test_the_commands_of_every_day_load_no_bus(packages):
    for program in "keychainctl", "security":
        told = subprocess.run(["readelf", "--dynamic", f"/usr/bin/{program}"], check=True, text=True,
                              capture_output=True).stdout
        assert "(NEEDED)" in told and "libsystemd" not in told, program


def test_the_packages_have_what_make_install_installs_and_nothing_else(packages):
    with tempfile.TemporaryDirectory() as folder:
        below = pathlib.Path(folder)
        subprocess.run(["make", "-s", "install", "prefix=/usr", f"DESTDIR={below}"], check=True,
                       cwd=world.TOP)
        wanted = {f"/{path.relative_to(below)}": state_of(path.relative_to(below), below)
                  for path in below.rglob("*") if not path.is_dir()}
    found = {}
    for path in {path for name in dpkg.NAMES if name != TAKES_OVER for path in dpkg.owns(name)}:
        # Of a package about itself.
        if path.is_dir() or any(f"/{kind}/{name}" in str(path) for name in dpkg.NAMES
                                for kind in ("doc", "overrides")):
            continue
        plain = pathlib.Path(f"/usr{path}") if path.parts[1] == "lib" else path
        if plain.suffix == ".gz":
            text = subprocess.run(["gzip", "-dc", plain], stdout=subprocess.PIPE, check=True).stdout
            found[str(plain.with_suffix(""))] = (*state_of(plain)[:3],
                                                 hashlib.sha256(text).hexdigest())
        else:
            found[str(plain)] = state_of(plain)
    assert found.keys() == wanted.keys()
    assert {path: (found[path], wanted[path]) for path in wanted
            if found[path] != wanted[path]} == {}


def installed_files():
    return sorted({path for name in dpkg.NAMES for path in dpkg.owns(name)
                   if path.is_file() and not path.is_symlink()})


def installed_programs():
    """With the libraries and the PAM module."""
    return [path for path in installed_files() if path.read_bytes()[:4] == b"\x7fELF"]


def dynamic(path, kind):
    told = world.run("readelf", "-dW", path).stdout
    return re.findall(rf"\({kind}\).*\[(.*)\]", told)


def test_all_that_is_installed_is_small(packages):
    # One file under several names is counted once.
    sizes = {path.stat().st_ino: path.stat().st_size for path in installed_files()}
    assert sum(sizes.values()) <= LARGEST, {str(path): path.stat().st_size
                                            for path in installed_programs()}


def test_nothing_that_is_installed_has_icu_in_it(packages):
    for path in installed_programs():
        assert not [name for name in dynamic(path, "NEEDED") if "icu" in name.lower()], path
        # What ICU calls its tables.
        assert b"icudt" not in path.read_bytes(), path


def test_programs_find_their_library_in_root_s_folder_and_look_nowhere_else(packages):
    libraries = list(LIBRARIES.iterdir())
    assert len(libraries) == 1
    for path in (LIBRARIES, *LIBRARIES.parents, *libraries):
        told = path.stat()
        assert told.st_uid == 0 and not told.st_mode & 0o022, path
    for path in installed_programs():
        assert dynamic(path, "RUNPATH") == [], path
        if path in libraries or path.name in (
                "pam_keychain.so", "keychain-starter", "keychain-audit"):
            assert dynamic(path, "RPATH") == [], path
        else:
            assert dynamic(path, "RPATH") == [str(LIBRARIES)], path
            assert libraries[0].name in dynamic(path, "NEEDED"), path


def test_no_folder_in_a_user_s_environment_takes_the_library_s_place(packages):
    hostile = world.RUN.parent / "tmp/hostile"
    hostile.mkdir(mode=0o755)
    try:
        (hostile / next(LIBRARIES.iterdir()).name).write_text("no library")
        plain = (["keychainctl", "help"], ["security", "help"])
        # Of those that get a group, no library at all is taken from there.
        guarded = [[str(DEPUTY), "--help"]]
        for command in (*plain, *guarded):
            if command in guarded:
                for name in dynamic(DEPUTY, "NEEDED"):
                    (hostile / name).write_text("no library")
            done = subprocess.run(["setpriv", f"--reuid={ALICE[0]}", "--clear-groups", "env",
                                   f"LD_LIBRARY_PATH={hostile}", *command], text=True,
                                  capture_output=True)
            assert done.returncode == 0, (command, done.stderr)
    finally:
        shutil.rmtree(hostile)


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", world.run("readelf", "-nW", path).stdout)[1]


def test_the_packages_of_debug_symbols_are_of_the_same_build(packages, tmp_path):
    for package in dpkg.FOLDER.glob("*-dbgsym_*.deb"):
        world.run("dpkg-deb", "--extract", package, tmp_path)
    symbols = {str(path.relative_to(tmp_path / "usr/lib/debug/.build-id"))[:-len(".debug")]
               .replace("/", ""): path
               for path in (tmp_path / "usr/lib/debug/.build-id").rglob("*.debug")}
    assert {name for name, path in symbols.items() if build_id(path) != name} == set()
    assert {str(path): build_id(path) for path in installed_programs()
            if build_id(path) not in symbols} == {}


def test_scripts_packages_removes_nothing_of_the_folder_s_owner(tmp_path):
    """It fails at once, without programs; the folder is as it was."""
    copy = tmp_path / "tree"
    (copy / "scripts").mkdir(parents=True)
    (copy / ".build/programs").mkdir(parents=True)
    (copy / ".build/programs/keychaind").touch(mode=0o755)
    shutil.copy(world.TOP / "scripts/packages", copy / "scripts")
    mine = tmp_path / "mine"
    (mine / "source").mkdir(parents=True)
    for name in "source/work", "other_1.0_amd64.deb":
        (mine / name).write_text("mine")
    done = subprocess.run([copy / "scripts/packages", mine], capture_output=True)
    assert done.returncode != 0
    assert sorted(str(path.relative_to(mine)) for path in mine.rglob("*")) == [
        "other_1.0_amd64.deb", "source", "source/work"]


def test_the_licences_of_all_that_is_linked_in_are_named(packages):
    told = pathlib.Path("/usr/share/doc/keychain-services/copyright").read_text()
    # The compiler's own libraries, and each package that is not for tests alone.
    manifest = (world.TOP / "Package.swift").read_text()
    named = {*re.findall(r'url: "[^"]*/([^/"]*)"', manifest)} - {"GRDB.swift"}
    for name in {"Swift's standard library", "libdispatch", "libstdc++", "BoringSSL", *named}:
        assert name in told, name
    notices = {path.name.split(".")[0]
               for path in pathlib.Path("/usr/share/doc/keychain/notices").iterdir()}
    assert notices == {name for name in named
                       if (world.TOP / ".build/checkouts" / name / "NOTICE.txt").exists()}


def test_the_helpers_are_one_file(packages):
    assert pathlib.Path("/usr/bin/git-credential-keychain").stat().st_nlink == 6


@pytest.mark.skipif(shutil.which("apparmor_parser") is None, reason="there is no apparmor_parser")
def test_the_profiles_are_understood_and_each_is_of_an_installed_program(packages):
    profiles = sorted(path for name in dpkg.NAMES for path in dpkg.owns(name)
                      if path.parent == pathlib.Path("/etc/apparmor.d") and path.is_file())
    assert len(profiles) == len(list((world.TOP / "packaging/apparmor.d").iterdir()))
    for profile in profiles:
        done = world.run("apparmor_parser", "--skip-kernel-load", "--skip-cache", "--features-file",
                         "/usr/share/apparmor-features/features", profile)
        assert done.stderr == "", done
        name, program = re.search(r"^profile (\S+) (/\S+)", profile.read_text(), re.MULTILINE).groups()
        assert name == profile.name == pathlib.Path(program).name and os.access(program, os.X_OK)
        assert not re.search(r"flags=\([^)]*complain", profile.read_text()), profile


def test_accounts_folders_and_units_are_there(packages):
    assert PROMPTER.stat().st_gid == grp.getgrnam("_keychain-prompt").gr_gid
    assert DEPUTY.stat().st_gid == grp.getgrnam("_keychain-secrets").gr_gid
    assert {stat.S_IMODE(path.stat().st_mode) for path in (PROMPTER, DEPUTY)} == {0o2755}
    assert pwd.getpwnam("_keychain-policy").pw_shell == "/usr/sbin/nologin"
    assert pwd.getpwnam("_keychain-tpm").pw_shell == "/usr/sbin/nologin"
    assert pwd.getpwnam("_keychain-fido").pw_shell == "/usr/sbin/nologin"
    assert pwd.getpwnam("_keychain-import").pw_shell == "/usr/sbin/nologin"
    keeper = pwd.getpwnam("_keychain-audit")
    assert keeper.pw_shell == "/usr/sbin/nologin"
    audit = (world.STATE / "audit").stat()
    assert (audit.st_uid, audit.st_gid) == (keeper.pw_uid, keeper.pw_gid)
    assert stat.S_IMODE(audit.st_mode) == 0o700
    assert stat.S_IMODE(world.STATE.stat().st_mode) == 0o711
    assert stat.S_IMODE(pathlib.Path("/etc/keychain/policies.d").stat().st_mode) == 0o755
    for name in ("sockets.target.wants/keychaind.socket",
                 "sockets.target.wants/keychaind-login.socket",
                 "sockets.target.wants/keychaind-offer.socket",
                 "sockets.target.wants/keychain-worker.socket",
                 "sockets.target.wants/keychain-broker.socket",
                 "sockets.target.wants/keychain-starter.socket",
                 "sockets.target.wants/keychain-audit.socket",
                 "multi-user.target.wants/keychaind.service"):
        assert pathlib.Path("/etc/systemd/system", name).exists(), name
    assert pathlib.Path(
        "/etc/systemd/user/graphical-session.target.wants/keychain-prompter.service").exists()


def test_a_login_opens_the_keychain_through_the_machine_s_stacks(daemon, login):
    assert dpkg.stacks_with_the_module() == set(dpkg.STACKS)
    shell = login()
    assert shell.run(ADD.format("tr0ub4dor")).status == 0
    assert shell.run(GET).text.strip() == "tr0ub4dor"


def test_a_removed_module_stands_in_no_stack_and_logins_go_on(packages, login):
    dpkg.remove("libpam-keychain")
    assert dpkg.stacks_with_the_module() == set()
    assert not dpkg.module().exists()
    assert login().run("id -un").text.strip() == ALICE[0]


def test_lines_of_an_administrator_s_own_are_named_and_harm_no_login(packages, login):
    own = pathlib.Path("/etc/pam.d/keychain-test-own")
    own.write_text("session optional pam_keychain.so\n")
    auth = pathlib.Path("/etc/pam.d/common-auth")
    before = auth.read_text()
    try:
        # A stack that was edited where pam-auth-update writes: it leaves it as it is.
        auth.write_text(before.replace("pam_permit.so", "pam_permit.so # edited", 1))
        done = dpkg.remove("libpam-keychain")
        assert str(own) in done.stdout
        assert (str(auth) in done.stdout) == ("common-auth" in dpkg.stacks_with_the_module())
        assert login().run("id -un").text.strip() == ALICE[0]
    finally:
        own.unlink()
        auth.write_text(before)
        world.run("pam-auth-update", "--force", "--package", check=False)


def test_an_upgrade_keeps_keychains_and_what_the_administrator_set(daemon, login, tmp_path):
    assert login().run(ADD.format("kept")).status == 0
    policy = pathlib.Path("/etc/keychain/policies.d/90-own.yaml")
    policy.write_text("policy: v1\nname: own\nrules: []\n")
    world.run("dpkg-statoverride", "--remove", PROMPTER)
    world.run("dpkg-statoverride", "--update", "--add", "root", "_keychain-prompt", "02750",
              PROMPTER)
    dpkg.dpkg("--install", *dpkg.newer(tmp_path / "newer", "0.1.1-1"))
    assert dpkg.are_installed()
    assert policy.exists()
    assert stat.S_IMODE(PROMPTER.stat().st_mode) == 0o2750
    # As its unit's restart.
    daemon.restart()
    assert login().run(GET).text.strip() == "kept"


def test_an_upgrade_moves_earlier_records_to_what_keeps_the_audit(daemon, tmp_path):
    record = ('{"count":1,"operation":"add","outcome":"allowed","program":"exe:/earlier",'
              '"time":"2026-01-01T08:00:00Z","user":1000}\n')
    (world.STATE / "audit.jsonl").write_text(record)
    other = tmp_path / "other"
    other.write_text("other")
    (world.STATE / "audit.jsonl.1").symlink_to(other)
    for _ in range(2):
        dpkg.dpkg("--install", *dpkg.newer(tmp_path / "newer", "0.1.1-1"))
        moved = world.STATE / "audit/earlier.jsonl"
        assert moved.read_text() == record
        assert moved.stat().st_uid == pwd.getpwnam("_keychain-audit").pw_uid
        assert (world.STATE / "audit.jsonl.1").is_symlink() and other.stat().st_uid == 0
        assert not (world.STATE / "audit/earlier.jsonl.1").exists()
        # What stands there later is no record of that version's.
        (world.STATE / "audit.jsonl").write_text("later")
        shutil.rmtree(tmp_path / "newer")
    assert "exe:/earlier" in world.run(world.CONTROL, "audit").stdout
    for path in world.STATE.glob("audit.jsonl*"):
        path.unlink()


@pytest.mark.parametrize("name", dpkg.NAMES)
def test_no_package_of_a_version_that_cannot_read_a_keychain_is_unpacked(daemon, login, name):
    assert login().run(ADD.format("newer")).status == 0
    daemon.stop()
    connection, known = dpkg.format_of(keychain_of())
    connection.close()
    connection, _ = dpkg.format_of(keychain_of(), known + 1)
    connection.close()
    refused = dpkg.dpkg("--unpack", dict(zip(dpkg.NAMES, dpkg.files()))[name], check=False)
    assert refused.returncode != 0
    assert f"{name}: this version reads keychains of format {known}" in refused.stdout
    assert dpkg.are_installed()


@pytest.mark.parametrize("where", ["the file", "its log"])
def test_a_version_that_cannot_read_a_keychain_is_not_installed(daemon, login, where):
    assert login().run(ADD.format("newer")).status == 0
    daemon.stop()
    connection, known = dpkg.format_of(keychain_of())
    connection.close()
    connection, _ = dpkg.format_of(keychain_of(), known + 1)
    try:
        if where == "the file":
            connection.close()
        log = keychain_of().with_name("login.keychain-wal")
        assert log.exists() == (where == "its log")
        refused = dpkg.dpkg("--install", dpkg.files()[0], check=False)
        assert refused.returncode != 0
        assert f"{keychain_of()} (format {known + 1})" in refused.stdout
        assert dpkg.are_installed()
        connection, _ = dpkg.format_of(keychain_of(), known)
        dpkg.dpkg("--install", dpkg.files()[0])
    finally:
        connection.close()
    daemon.start()
    assert login().run(GET).text.strip() == "newer"


def test_a_purge_keeps_keychains_and_their_policies_for_another_installation(daemon, login):
    assert login().run(ADD.format("mine")).status == 0
    policy = pathlib.Path("/etc/keychain/policies.d/90-own.yaml")
    policy.write_text("policy: v1\nname: own\nrules: []\n")
    daemon.stop()
    dpkg.purge()
    assert set(dpkg.states().values()) <= {"unknown ok not-installed"}
    assert keychain_of().exists() and policy.exists()
    assert dpkg.stacks_with_the_module() == set()
    assert world.run("dpkg-statoverride", "--list", "/usr/libexec/keychain/*",
                     check=False).stdout == ""
    assert not list(pathlib.Path("/etc/systemd").rglob("keychain*"))
    dpkg.install()
    daemon.start()
    assert login().run(GET).text.strip() == "mine"


def test_a_purge_removes_keychains_where_the_administrator_says_so(daemon, login):
    assert login().run(ADD.format("gone")).status == 0
    daemon.stop()
    dpkg.answers("true")
    dpkg.purge()
    assert not world.STATE.exists()
    assert not pathlib.Path("/etc/keychain").exists()


@pytest.mark.parametrize("kind", ["mounted below", "mounted from beside", "a link"])
def test_a_purge_removes_nothing_that_hangs_in_the_folder_from_elsewhere(packages, tmp_path, kind):
    dpkg.answers("true")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "1000").mkdir(parents=True)
    kept = elsewhere / "1000/photographs"
    kept.write_text("kept")
    place = world.STATE / "1000"
    try:
        if kind == "a link":
            place.symlink_to(elsewhere / "1000")
        else:
            place.mkdir()
            if kind == "mounted below":
                world.run("mount", "-t", "tmpfs", "test", place)
                kept = place / "photographs"
                kept.write_text("kept")
            else:
                # Of the same file system, which no number of a device tells apart.
                beside = world.STATE.parent / "beside"
                beside.mkdir()
                kept = beside / "photographs"
                kept.write_text("kept")
                world.run("mount", "--bind", beside, place)
        dpkg.purge()
        assert kept.read_text() == "kept"
        assert world.STATE.exists() == (kind != "a link")
    finally:
        world.run("umount", place, check=False)


@pytest.mark.parametrize("folder", ["/var/lib/keychain", "/etc/keychain"])
def test_a_purge_follows_no_link_in_the_place_of_its_folder(packages, tmp_path, folder):
    dpkg.answers("true")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "policies.d").mkdir(parents=True)
    (elsewhere / "kept").write_text("kept")
    shutil.rmtree(folder)
    pathlib.Path(folder).symlink_to(elsewhere)
    try:
        dpkg.purge()
        assert (elsewhere / "kept").read_text() == "kept" and (elsewhere / "policies.d").exists()
    finally:
        pathlib.Path(folder).unlink(missing_ok=True)


def test_a_purge_of_an_unused_installation_leaves_nothing(packages):
    dpkg.remove()
    assert set(dpkg.states().values()) <= {"deinstall ok config-files",
                                           "unknown ok not-installed"}
    dpkg.purge()
    assert not world.STATE.exists() and not pathlib.Path("/etc/keychain").exists()


def no_stack_names_a_missing_module():
    assert dpkg.module().exists() or dpkg.stacks_with_the_module() == set()


def test_an_installation_goes_on_wherever_it_was_killed(packages):
    installed = {path: state_of(path) for name in dpkg.NAMES for path in dpkg.owns(name)}
    dpkg.answers("true")
    dpkg.purge()
    unpacked = dpkg.each_killed_at_each_step(
        "--unpack", dict(zip(dpkg.NAMES, dpkg.files())), no_stack_names_a_missing_module)
    # One looks at the keychains, the others divert files.
    assert unpacked == dict.fromkeys(dpkg.NAMES, 1) | {TAKES_OVER: 4}
    configured = dpkg.each_killed_at_each_step(
        "--configure", {name: name for name in dpkg.NAMES}, no_stack_names_a_missing_module)
    assert {name for name in configured if configured[name]} == WITH_SCRIPTS
    assert configured["keychain-services"] > 5
    assert dpkg.are_installed()
    assert installed == {path: state_of(path) for name in dpkg.NAMES for path in dpkg.owns(name)}
    assert dpkg.stacks_with_the_module() == set(dpkg.STACKS)


def test_an_upgrade_goes_on_wherever_it_was_killed(packages, tmp_path):
    later = dpkg.newer(tmp_path / "newer", "0.1.1-1")

    def the_prompter_is_known():
        no_stack_names_a_missing_module()
        assert stat.S_IMODE(PROMPTER.stat().st_mode) == 0o2755

    dpkg.each_killed_at_each_step("--unpack", dict(zip(dpkg.NAMES, later)), the_prompter_is_known)
    # The same scripts as an installation's, whose every step was one.
    dpkg.each_killed_at_each_step(
        "--configure", {name: name for name in dpkg.NAMES}, the_prompter_is_known, every=3)
    assert dpkg.are_installed()
    assert dpkg.stacks_with_the_module() == set(dpkg.STACKS)


def test_a_removal_and_a_purge_go_on_wherever_they_were_killed(packages, login):
    keychain_of().parent.mkdir(mode=0o700)
    keychain_of().write_bytes(b"kept")

    def logins_go_on():
        no_stack_names_a_missing_module()
        assert keychain_of().read_bytes() == b"kept"

    # What depends on others goes first.
    each = {name: name for name in reversed(dpkg.NAMES)}
    removed = dpkg.each_killed_at_each_step("--remove", each, logins_go_on)
    assert removed["libpam-keychain"] > 0
    assert login().run("id -un").text.strip() == ALICE[0]
    left = {name: name for name in each if name in dpkg.states()}
    purged = dpkg.each_killed_at_each_step("--purge", left, logins_go_on)
    assert purged["keychain-services"] > 0 and purged["keychain-services-secrets"] > 0
    assert set(dpkg.states().values()) <= {"unknown ok not-installed"}
    assert not list(pathlib.Path("/etc/systemd").rglob("keychain*"))
