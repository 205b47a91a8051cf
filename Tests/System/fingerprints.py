# SPDX-License-Identifier: Apache-2.0
"""The real fprintd on libfprint's virtual reader, where a finger is a name; polkit and logind, which it
asks, are python-dbusmock's, on a bus of the world's own at the system bus's place."""

import os
import pathlib
import socket
import subprocess

import world

FILES = world.TOP / ".deps/fprintd/usr"
LIBRARIES, = FILES.glob("lib/*-linux-gnu")
MODULE, = [path for path in FILES.parent.rglob("pam_fprintd.so")]
BUS = pathlib.Path("/run/dbus/system_bus_socket")
READER = pathlib.Path("/run/fingerprint-reader")
ENROLLED = pathlib.Path("/var/lib/fprint")
LOG = pathlib.Path("/run/fingerprints.log")
BUS_CONFIGURATION = f"""
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={BUS}</listen>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_type="method_call"/>
    <allow send_type="signal"/> <allow send_requested_reply="true"/>
    <allow receive_type="method_call"/> <allow receive_type="signal"/>
    <allow receive_type="method_return"/> <allow receive_type="error"/>
  </policy>
</busconfig>
"""
ALLOW = """
import dbus
authority = dbus.SystemBus().get_object("org.freedesktop.PolicyKit1",
                                        "/org/freedesktop/PolicyKit1/Authority")
authority.AllowUnknown(True, dbus_interface="org.freedesktop.DBus.Mock")
"""


class Fingerprints:
    def __init__(self):
        self.processes = []
        BUS.parent.mkdir(exist_ok=True)
        configuration = pathlib.Path("/run/fingerprint-bus.conf")
        configuration.write_text(BUS_CONFIGURATION)
        world.run("mkdir", "-p", ENROLLED)
        world.run("mount", "-t", "tmpfs", "-o", "mode=0700", "fingers", ENROLLED)
        self.start("dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile")
        world.wait_for(lambda: world.accepts(BUS), "the bus")
        for mock in "polkitd", "logind":
            self.start("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", mock)
        for name in "org.freedesktop.PolicyKit1", "org.freedesktop.login1":
            world.wait_for(lambda: self.has(name), name)
        world.run("/usr/bin/python3", "-c", ALLOW)
        self.start(FILES / "libexec/fprintd", "--no-timeout", FP_VIRTUAL_DEVICE=str(READER),
                   LD_LIBRARY_PATH=str(LIBRARIES), STATE_DIRECTORY=str(ENROLLED))
        world.wait_for(lambda: self.has("net.reactivated.Fprint"), "fprintd")

    def start(self, *command, **environment):
        log = open(LOG, "a")
        self.processes.append(subprocess.Popen(
            [str(word) for word in command], env={**os.environ, **environment},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    @staticmethod
    def has(name):
        asked = world.run("dbus-send", "--system", "--print-reply=literal",
                          "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                          "org.freedesktop.DBus.NameHasOwner", f"string:{name}", check=False)
        return "boolean true" in asked.stdout

    @staticmethod
    def touch(finger):
        """Lays a finger on the reader."""
        with socket.socket(socket.AF_UNIX) as reader:
            reader.connect(str(READER))
            reader.sendall(f"SCAN {finger}".encode())
            reader.shutdown(socket.SHUT_WR)
            reader.recv(100)

    def enroll(self, user, place, finger):
        process = subprocess.Popen([FILES / "bin/fprintd-enroll", "-f", place, user],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in process.stdout:
            if "Enrolling" in line or "stage-passed" in line:
                self.touch(finger)
        assert process.wait(world.PATIENCE) == 0

    @staticmethod
    def forget(user, place):
        world.run(FILES / "bin/fprintd-delete", user, "-f", place)

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        world.run("umount", "-l", ENROLLED)
        BUS.unlink(missing_ok=True)
        READER.unlink(missing_ok=True)
