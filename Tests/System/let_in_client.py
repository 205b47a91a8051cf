# SPDX-License-Identifier: Apache-2.0
"""A program that stays on the bus and tells, at each line that it is sent, which items it finds and
whether it reads the first of them."""

import sys

import dbus

from secrets_client import ITEM, Peer


def main():
    peer = Peer()
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


if __name__ == "__main__":
    main()
