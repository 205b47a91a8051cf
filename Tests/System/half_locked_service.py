# SPDX-License-Identifier: Apache-2.0
"""A Secret Service with two collections, of which it does not unlock one, for as long as a command runs:

    half_locked_service.py NAME COMMAND..."""

import os
import subprocess
import sys

import dbus
import dbus.bus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

ROOT = "/org/freedesktop/secrets"
OPEN, LOCKED = ROOT + "/collection/home", ROOT + "/collection/work"
ITEM = OPEN + "/1"
SESSION = ROOT + "/session/1"
NOT_SUPPORTED = "org.freedesktop.DBus.Error.NotSupported"
PROPERTIES = {
    (ROOT, "Collections"): dbus.Array([LOCKED, OPEN], signature="o"),
    (OPEN, "Label"): "Home",
    (LOCKED, "Label"): "Work",
    (OPEN, "Items"): dbus.Array([ITEM], signature="o"),
}
OF_ITEM = dbus.Dictionary({
    "Label": dbus.String("Kept", variant_level=1),
    "Attributes": dbus.Dictionary({"kind": "kept"}, signature="ss", variant_level=1),
}, signature="sv")
SECRET = dbus.Struct((dbus.ObjectPath(SESSION), dbus.ByteArray(b""), dbus.ByteArray(b"s3cret"), "text/plain"),
                     signature="oayays")


def answer(path, member, arguments):
    """The types of an answer, and its values; None for a call that is refused."""
    if member == "OpenSession" and arguments[0] == "plain":
        return "vo", ("", SESSION)
    if member == "Unlock":
        return "aoo", ([name for name in arguments[0] if name != LOCKED], "/")
    if member == "Get" and (path, arguments[1]) in PROPERTIES:
        return "v", (PROPERTIES[path, arguments[1]],)
    if member == "GetAll" and path == ITEM:
        return "a{sv}", (OF_ITEM,)
    if member == "GetSecret" and path == ITEM:
        return "(oayays)", (SECRET,)
    return None


def hear(bus, message):
    if message.get_type() != dbus.lowlevel.MESSAGE_TYPE_METHOD_CALL:
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    given = answer(message.get_path(), message.get_member(), message.get_args_list())
    if given:
        reply = dbus.lowlevel.MethodReturnMessage(message)
        reply.append(*given[1], signature=given[0])
    else:
        reply = dbus.lowlevel.ErrorMessage(message, NOT_SUPPORTED, message.get_member())
    bus.send_message(reply)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


def main(name, *command):
    DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    bus.add_message_filter(hear)
    bus.request_name(name)
    loop = GLib.MainLoop()
    child = subprocess.Popen(command)
    GLib.timeout_add(50, lambda: child.poll() is None or loop.quit())
    loop.run()
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
