# SPDX-License-Identifier: Apache-2.0
"""A display manager, a desktop's session, and the keychain's question as a window over it."""

import os
import pathlib
import shutil

from conftest import ALICE, WORK
from guest import wait_for

SECRET = "tr0ub4dor"
# What larger desktops bring of their own: a session's target, bound to the graphical one.
TARGET = "[Unit]\nBindsTo=graphical-session.target\nBefore=graphical-session.target\n"
AUTOSTART = """systemctl --user import-environment DISPLAY XAUTHORITY
systemctl --user start openbox-session.target
xterm -geometry 90x12+20+20 -e sh -c '\
keychainctl get generic-password --service mail >said; touch opened; \
printf {} | keychainctl add generic-password --service bank --flags user-presence; \
keychainctl get generic-password --service bank >asked 2>&1; echo "=$?" >>asked; sleep 1000' &
""".format(SECRET)


def begin_a_desktop(guest, autostart, *settings):
    """Alice's, which runs `autostart`."""
    home = "/home/alice/.config"
    guest.run(f"mkdir -p {home}/openbox {home}/systemd/user /etc/lightdm/lightdm.conf.d")
    guest.run(f"cat >{home}/systemd/user/openbox-session.target", input=TARGET)
    guest.run(f"cat >{home}/openbox/autostart", input=autostart)
    guest.run("cat >/etc/lightdm/lightdm.conf.d/test.conf",
              input="\n".join(["[Seat:*]", "user-session=openbox", *settings, ""]))
    guest.run(f"chown -R alice: {home}; systemctl start lightdm")


def test_a_tpm_opens_the_keychain_of_a_desktop_that_logs_in_by_itself(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(f"printf {SECRET} | keychainctl add generic-password --service mail").status == 0
    added = console.run("keychainctl protector add tpm2 --at-login", [ALICE[1]] * 2)
    assert added.status == 0, added.text
    assert console.run("keychainctl lock").status == 0
    console.logout()
    begin_a_desktop(guest, "keychainctl get generic-password --service mail >said 2>&1; touch opened\n",
                    "autologin-user=alice", "autologin-user-timeout=0")
    wait_for(lambda: guest.run("test -e /home/alice/opened", check=False).status == 0,
             "the session", 180, pause=2)
    assert guest.run("cat /home/alice/said").text.strip() == SECRET


def test_a_login_on_the_desktop_opens_the_keychain_and_a_question_is_a_window(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(f"printf {SECRET} | keychainctl add generic-password --service mail").status == 0
    console.logout()
    begin_a_desktop(guest, AUTOSTART, "greeter-hide-users=true")
    wait_for(lambda: guest.run("pgrep --full lightdm-gtk-greeter", check=False).status == 0,
             "the greeter", 180)
    wait_for(lambda: guest.is_drawn(), "the greeter's window", 180, pause=3)
    guest.types(ALICE[0] + "\n")
    guest.run("sleep 3")
    guest.types(ALICE[1] + "\n")
    try:
        wait_for(lambda: guest.run("test -e /home/alice/opened", check=False).status == 0,
                 "the session's terminal", 180, pause=2)
        assert guest.run("cat /home/alice/said").text.strip() == SECRET
        wait_for(lambda: guest.run("pgrep pinentry", check=False).status == 0, "the window", pause=1)
        wait_for(lambda: guest.is_drawn(), "the window", 30, pause=3)
    finally:
        picture = WORK.parent / "question.png"
        guest.screenshot(picture)
    guest.types(ALICE[1] + "\n")
    wait_for(lambda: "=" in guest.run("cat /home/alice/asked", check=False).text, "the answer")
    assert guest.run("cat /home/alice/asked").text.split() == [SECRET + "=0"]
    folder = os.environ.get("KEYCHAIN_TEST_PICTURES")
    if folder:
        shutil.copy(picture, pathlib.Path(folder))
