# SPDX-License-Identifier: Apache-2.0
"""A program that stays on the bus. Tells, at each line that it is sent, which items it finds and whether
it reads the first of them; or, with a command, whether it hears of what that one changes."""

import subprocess
import sys

import dbus
from dbus.mainloop.glib import DBusGMainLoop

from secrets_client import ITEM, LOGIN, Listener, Peer


def main(*command):
    DBusGMainLoop(set_as_default=True)
    peer = Peer()
    if command:
        return hears(peer, command)
    session = peer.session()
    known = None
    while True:
        unlocked, locked = peer.search(app="browser")
        known = known or (unlocked or [None])[0]
        read = "none"
        if known:
            try:
                read = bytes(peer.call(known, ITEM, "GetSecret", "o", session)[2]).decode()
            except dbus.DBusException as error:
                read = error.get_dbus_name().rsplit(".", 1)[1]
        print(f"<{len(unlocked)} open, {len(locked)} locked, {read}>", flush=True)
        if not sys.stdin.readline():
            return


def hears(peer, command):
    listener = Listener(peer)
    items = peer.search(app="browser")[0]
    subprocess.run(command, check=True, input="new", text=True)
    listener.hears(LOGIN, "ItemChanged", lambda told: told[0] in items)


if __name__ == "__main__":
    main(*sys.argv[1:])
