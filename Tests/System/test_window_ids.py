# SPDX-License-Identifier: Apache-2.0
"""The window that a program on the bus names for its prompt: its number goes to the pinentry, and nothing
else that the program says there does. A stand-in for the pinentry writes down what it is told, and answers
at once; not every real one shows what it makes of the number."""

import shlex
import shutil

import pytest

import world
from conftest import ALICE
from graphical import prompter_waits
from test_desktop import at_the_screen, desktop, desktop_server, status  # noqa: F401 (fixtures)
from test_secret_service import programs  # noqa: F401 (a fixture)

PINENTRY = "/usr/bin/pinentry-gtk-2"
WINDOW = 0x1E00007
STAND_IN = """#!/usr/bin/python3
import sys
print("OK", flush=True)
for line in sys.stdin:
    with open("{said}", "a") as said:
        said.write(line)
    print("D {password}\\nOK" if line == "GETPIN\\n" else "OK", flush=True)
"""


@pytest.fixture
def said(programs):
    """What is said to the pinentry."""
    folder = world.TOOLS / "pinentry"
    folder.mkdir()
    said, stand_in = folder / "said", folder / "stand-in"
    said.touch()
    said.chmod(0o666)
    stand_in.write_text(STAND_IN.format(said=said, password=ALICE[1]))
    stand_in.chmod(0o755)
    world.run("mount", "--bind", stand_in, PINENTRY)
    yield said
    world.run("umount", PINENTRY)
    shutil.rmtree(folder)


@pytest.fixture
def shell(at_the_screen, desktop, programs, said):
    """A shell of the desktop's login, where a prompter waits, and the keychain is locked."""
    shell, manager = at_the_screen
    shutil.copy(world.TOP / "Tests/System/secrets_prompts.py", world.TOOLS)
    assert shell.run("rm -rf ~/.local/share/dbus-1; keychainctl secrets enable").status == 0
    assert shell.run("keychainctl lock").status == 0
    assert prompter_waits(manager, desktop) == ""
    return shell


def asked_over(shell, said, words):
    """What is said of a window to the pinentry; the keychain is opened by it."""
    said.write_text("")
    shell.send(f"setsid -w dbus-run-session -- /usr/bin/python3 -B {world.TOOLS}/secrets_prompts.py"
               f" unlocks_over {shlex.quote(words)} </dev/null; echo \"<status $?>\"")
    assert status(shell) == 0, shell.terminal.before
    shell.terminal.expect_exact(shell.PROMPT)
    lines = said.read_text().splitlines()
    assert "GETPIN" in lines and not any("evil" in line for line in lines), lines
    return [line for line in lines if "wid" in line]


@pytest.mark.parametrize("written", ["{0}", "0x{0:x}", "x11:{0:x}", "x11:0x{0:x}"])
def test_the_pinentry_is_told_the_window_that_the_program_names(shell, said, written):
    assert asked_over(shell, said, written.format(WINDOW)) == [f"OPTION parent-wid={WINDOW}"]


@pytest.mark.parametrize("written", ["", "0", "wayland:{0:x}", "-{0}", "{0:x}z",
                                     "18446744073709551616", "{0}\nSETDESC evil", "{0} evil"])
def test_the_pinentry_is_told_nothing_that_is_no_window_s_number(shell, said, written):
    assert asked_over(shell, said, written.format(WINDOW)) == []
