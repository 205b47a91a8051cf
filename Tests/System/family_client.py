# SPDX-License-Identifier: Apache-2.0
"""A program of a family, and what it is told of items:

    family_client.py stores SOURCE...   makes an item of each source, or changes it
    family_client.py hears COMMAND...   is told of the item that the command makes, and of no other
    family_client.py watches COMMAND... is told of the change that the command makes
"""

import subprocess
import sys

from dbus.mainloop.glib import DBusGMainLoop

from secrets_client import LOGIN, Listener, Peer, expect


def stores(*sources):
    peer = Peer()
    session = peer.session()
    for source in sources:
        peer.create(session, replace=True, source=source)


def hears(*command):
    listener = Listener(Peer())
    subprocess.run(command, check=True)
    listener.hears(LOGIN, "ItemCreated")
    of_items = [(path, member) for path, member, _ in listener.heard
                if path.startswith(LOGIN + "/") or member == "ItemChanged"]
    expect(of_items, [], "what is told of another program's item")


def watches(*command):
    listener = Listener(Peer())
    subprocess.run(command, check=True)
    listener.hears(LOGIN, "ItemChanged")


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    {"stores": stores, "hears": hears, "watches": watches}[sys.argv[1]](*sys.argv[2:])
