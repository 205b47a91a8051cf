# SPDX-License-Identifier: Apache-2.0
"""Other projects' own tests of the Secret Service: git's helper with git's test, Rust's secret-service and
libsecret's, on a bus where the keychain is the service."""

import os
import pathlib
import re
import shutil

import pytest

import world
from test_helpers import git_s_own_test
from test_libraries import needs
from test_policies import admin  # noqa: F401 (a fixture)
from test_secret_service import bus, programs  # noqa: F401 (fixtures)

GIT_HELPER = pathlib.Path("/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c")
RUST = world.TOP / ".deps/secret-service-rs/tests"
LIBSECRET = world.TOP / ".deps/libsecret"


@pytest.fixture(scope="module")
def helper(programs):
    """git-credential-libsecret, as Debian's git has its source."""
    needs("gcc", "pkg-config", target="secrets")
    flags = world.run("pkg-config", "--cflags", "--libs", "libsecret-1", "glib-2.0", check=False)
    if flags.returncode or not GIT_HELPER.exists():
        pytest.skip("libsecret's headers or git's helper are not installed: scripts/install-dependencies secrets")
    program = world.TOOLS / "git-credential-libsecret"
    world.run("gcc", "-o", program, GIT_HELPER, *flags.stdout.split())
    program.chmod(0o755)
    return program


def test_git_keeps_passwords_by_its_helper_for_libsecret(bus, helper):
    git = f"git -c credential.helper={helper} credential"
    place = "protocol=https\\nhost=git.example\\n"
    kept = bus(f"printf '{place}username=me\\npassword=g1t s3cret\\n' | {git} approve &&"
               f" printf '{place}' | {git} fill")
    assert kept.status == 0 and "username=me" in kept.text and "password=g1t s3cret" in kept.text, kept.text
    # As any program of libsecret's.
    told = bus("secret-tool search --all server git.example 2>&1")
    assert ("Git: https://git.example/" in told.text) == (bus.mode == "embedded"), told.text
    gone = bus(f"printf '{place}username=me\\n' | {git} reject;"
               f" printf '{place}' | GIT_TERMINAL_PROMPT=0 {git} fill 2>&1")
    assert gone.status != 0 and "password=" not in gone.text, gone.text


def test_git_s_own_test_of_helpers_passes_over_the_bus(bus, helper):
    done = git_s_own_test(lambda command: bus(f"PATH={helper.parent}:$PATH; {command}"), "libsecret")
    assert "# passed all 12 test(s)" in done.text, done.text


def test_the_tests_of_rust_s_secret_service_pass(bus, programs):
    if not RUST.exists():
        pytest.skip("they could not be built: scripts/install-dependencies rust")
    tests = world.TOOLS / "secret-service-rs"
    shutil.copy(RUST, tests)
    tests.chmod(0o755)
    done = bus(f"{tests} --test-threads 1")
    tests.unlink()
    # The others it leaves out itself, since they ask a user.
    assert "27 passed; 0 failed; 5 ignored" in done.text, done.text


# Cases that no service but the mock passes. The twelve of test-prompt are all of them such: each asks for
# one of the mock's prompts by its name.
OTHERWISE = {
    "its service offers no encryption": [
        "session ensure-plain", "session ensure-async-plain", "session ensure-async-twice"],
    "its prompts agree by themselves": [
        "paths delete-for-path-with-prompt", "paths lock-prompt-sync", "paths unlock-prompt-sync"],
    "it makes a collection without a password": [
        "paths create-collection-sync", "paths create-collection-async", "collection create-sync",
        "collection create-async"],
    "it opens a collection without a password": [
        "methods search-unlock-sync", "methods search-unlock-async", "methods lookup-locked",
        "methods lookup-no-name", "methods clear-no-name", "password lookup-no-name",
        "password clear-no-name", "password store-unlock", "collection search-unlock-sync",
        "collection search-unlock-async"],
    "it deletes the default collection, and asks no user": ["collection delete-sync", "collection delete-async"],
    "it takes an item's properties under names of a collection's": [
        "paths create-item-sync", "paths create-item-async"],
}
SUITES = ("service", "session", "paths", "methods", "password", "item", "collection")
CASES = """cd; for suite in {suites}; do
    for path in $({built}/test-$suite -l | grep ^/); do
        timeout 60 {built}/test-$suite -p $path >told 2>&1
        if grep -q ^ok told; then said=ok; else said=no; tail -n 3 told; fi
        echo "<$said $suite ${{path##*/}}>"
    done
done"""


@pytest.fixture(scope="module")
def libsecret(programs):
    """Its tests, whose mock is our service."""
    needs("meson", "ninja", target="secrets")
    if not LIBSECRET.exists():
        pytest.skip("libsecret's source could not be fetched")
    folder = world.TOOLS / "libsecret"
    shutil.copytree(LIBSECRET, folder)
    for script in (folder / "libsecret").glob("mock-service-*.py"):
        shutil.copy(world.TOP / "Tests/System/libsecret_service.py", script)
    paths = world.TOP / "Tests/System/libsecret_paths.h"
    for test in (folder / "libsecret").glob("test-*.c"):
        text, count = re.subn(
            '"/org/freedesktop/secrets/collection/(english|spanish|todelete)/[0-9a-z]+"', r"path_of (\g<0>)",
            test.read_text())
        if count:
            test.write_text(paths.read_text() + text)
    world.run("meson", "setup", folder / "built", folder, "-Dintrospection=false", "-Dvapi=false",
              "-Dgtk_doc=false", "-Dmanpage=false")
    world.run("ninja", "-C", folder / "built", *(f"libsecret/test-{name}" for name in SUITES))
    yield folder / "built/libsecret"
    shutil.rmtree(folder)


@pytest.fixture
def mocked(bus, libsecret, admin):
    """Runs the cases where collections are that are called as the mock's."""
    if bus.mode == "daemon":
        # The mock's script and the tests are several programs, and a stranger's locked items are absent.
        members = [os.path.realpath("/usr/bin/python3"), *(libsecret / f"test-{name}" for name in SUITES)]
        admin(f"""groups:
  - id: test.libsecret
    group: test-libsecret
    home: true
    members:
      - {{exe: [{", ".join(map(str, members))}], trusted-exe: true}}
""")
    home = "KEYCHAIN_HOME=~/keychains " if bus.mode == "embedded" else ""
    for name in "english", "spanish", "german", "empty", "lockone", "todelete":
        made = bus.shell.run(f"printf 'mock\\n' | {home}keychainctl create {name} --no-recovery-key"
                             " --password-stdin")
        assert made.status == 0, made

    def run(*suites):
        script = CASES.format(built=libsecret, suites=" ".join(suites))
        done = bus(f"rm -f ~/paths; export LIBSECRET_TEST_PATHS=$HOME/paths; {script}", seconds=600)
        told = re.findall("<(ok|no) ([a-z]+ [a-z-]+)>", done.text)
        return {case for said, case in told if said == "ok"}, {case for _, case in told}, done.text

    return run


def test_libsecret_s_own_tests_pass(mocked):
    passed, all_of_them, told = mocked(*SUITES)
    # Of version 0.20.5.
    assert len(all_of_them) == 125, sorted(all_of_them)
    assert all_of_them - passed == {case for cases in OTHERWISE.values() for case in cases}, told
