# SPDX-License-Identifier: Apache-2.0
"""A user at Seahorse's window, on the bus and the display of it: does what its words say, in turn, and
prints what the window shows then. It is looked at as screen readers look at it, and used with the pointer
and the keyboard."""

import subprocess
import sys
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402 (the version is said before)

warnings.simplefilter("ignore")
PATIENCE = 30


def wait_for(found, what):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            there = found()
        except GLib.Error:  # What was on its way out is gone.
            there = None
        if there:
            return there
        time.sleep(0.1)
    sys.exit(f"<in vain: {what}>")


def children(node):
    for place in range(node.get_child_count()):
        child = node.get_child_at_index(place)
        if child is not None:
            yield child
            yield from children(child)


def shown(role, name=None):
    """What can be seen and has that role and name."""
    return [node for node in children(application) if node.get_role_name() == role
            and name in (None, node.get_name())
            and node.get_state_set().contains(Atspi.StateType.SHOWING)]


def the(role, name=None):
    return wait_for(lambda: shown(role, name), f"{role} {name}")[-1]


def click(node, times=1):
    place = node.get_extents(Atspi.CoordType.SCREEN)
    subprocess.run(["xdotool", "mousemove", str(place.x + min(place.width // 2, 60)),
                    str(place.y + place.height // 2), "click", "--repeat", str(times), "--delay", "80",
                    "1"], check=True)


def labels():
    """Of the items, which are shown with their attributes' values below."""
    return sorted(node.get_name().split("\n")[0] for node in shown("label") if "\n" in node.get_name())


def is_shown(*names):
    wait_for(lambda: labels() == sorted(names), f"{names}, only {labels()}")


def opens(name):
    click(wait_for(lambda: [node for node in shown("label") if node.get_name().startswith(name + "\n")],
                   name)[0], times=2)
    the("push button", "Delete Password")
    wait_for(lambda: content(the("password text")), "the password")


def content(node):
    return Atspi.Text.get_text(node, 0, -1)


def writes(entry, text):
    Atspi.EditableText.set_text_contents(entry, text)


def shown_dialog_is_gone():
    wait_for(lambda: not shown("password text"), "the end of the dialog")


def picture(name):
    if FOLDER:
        time.sleep(0.5)  # What was painted is on the screen.
        subprocess.run(["import", "-window", "root", "-trim", f"{FOLDER}/{name}.png"],
                       check=True)


def keeps(name):
    """As another program does."""
    subprocess.run(["secret-tool", "store", f"--label={name}", "user", name.lower()], input="s3cret",
                   text=True, check=True)


def has():
    desktop = Atspi.get_desktop(0)
    return [program for program in map(desktop.get_child_at_index, range(desktop.get_child_count()))
            if program is not None and program.get_name() == "seahorse"]


FOLDER = sys.argv[1] if len(sys.argv) > 1 else None
keeps("Mail")
keeps("Work")
seahorse = subprocess.Popen(["seahorse"])
application = wait_for(has, "Seahorse")[0]
sidebar = wait_for(lambda: [node for node in children(application) if node.get_role_name() == "list box"
                            and any(below.get_name() == "login" for below in children(node))],
                   "the keychains")[0]
for window in subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "seahorse"], check=True,
                             capture_output=True, text=True).stdout.split():
    subprocess.run(["xdotool", "windowsize", "--sync", window, "900", "600"], check=True)
Atspi.Selection.select_child(sidebar, 0)
is_shown("Mail", "Work")

# What other programs keep is shown at once.
keeps("Bank")
is_shown("Bank", "Mail", "Work")
picture("seahorse-list")

opens("Mail")
picture("seahorse-item")
writes([entry for entry in shown("text") if content(entry) == "Mail"][0], "Letters")
writes(the("password text"), "chAnged")
click(the("push button", "Close"))
click(the("push button", "OK"))
shown_dialog_is_gone()
is_shown("Bank", "Letters", "Work")

opens("Work")
click(the("push button", "Delete Password"))
click(the("push button", "Delete"))
shown_dialog_is_gone()
is_shown("Bank", "Letters")

click([button for button in shown("push button") if button.get_parent().get_parent().get_parent() == sidebar][0])
the("push button", "Unlock")
seahorse.terminate()
seahorse.wait()
