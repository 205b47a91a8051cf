# SPDX-License-Identifier: Apache-2.0
"""A TPM in software, behind a device, as the machine's own: the daemon learns of it as it would of any
other, from its administrator's file."""

import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import world

CONFIGURATION = pathlib.Path("/etc/keychain/tpm.conf")


class SoftwareTPM:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.port = free_ports()
        self.process = self.relay = None
        self.device = self.folder / "device"

    @property
    def address(self):
        return f"device:{self.device}"

    def start(self, unanswered=()):
        """A TPM that is switched on; to these commands it has no answer."""
        self.process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.folder}",
             "--server", f"type=tcp,port={self.port},bindaddr=127.0.0.1,disconnect",
             "--ctrl", f"type=tcp,port={self.port + 1},bindaddr=127.0.0.1",
             "--flags", "not-need-init,startup-clear"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Looks, and does not knock: it serves one connection at a time.
        entry = f"0100007F:{self.port:04X} 00000000:0000 0A"
        world.wait_for(lambda: entry in pathlib.Path("/proc/net/tcp").read_text(), "swtpm")
        self.relay = subprocess.Popen(
            [sys.executable, "-B", pathlib.Path(__file__).with_name("tpm_device.py"),
             str(self.port), self.device, *unanswered], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        world.wait_for(self.device.exists, "the TPM's device")
        return self

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(world.PATIENCE)
            self.process = None
        if self.relay:
            self.relay.kill()
            self.relay.wait(world.PATIENCE)
            self.relay = None
        self.device.unlink(missing_ok=True)

    def configure(self):
        CONFIGURATION.parent.mkdir(mode=0o755, exist_ok=True)
        CONFIGURATION.write_text(f"# The machine's TPM.\n{self.address}\n")
        CONFIGURATION.chmod(0o644)

    def tool(self, name, *words):
        world.run(name, *words, "-T", self.address)

    def extend(self, register):
        self.tool("tpm2_pcrextend", f"{register}:sha256={'ab' * 32}")

    def clear(self):
        self.tool("tpm2_clear", "-c", "p")

    def end(self):
        self.stop()
        CONFIGURATION.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def free_ports():
    """The first of two neighbours."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                return port
            except (OSError, OverflowError):
                continue
