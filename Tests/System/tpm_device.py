# SPDX-License-Identifier: Apache-2.0
"""tpm_device.py PORT LINK [COMMAND]: a device in the place of /dev/tpmrm0, before the TPM in software at
PORT. What is written to it is a command, and the answer is read from it; LINK leads to it. Of that
command the TPM never hears, and it has no answer."""

import fcntl
import os
import pty
import socket
import sys
import termios
import tty

HEADER = 10


def whole(read):
    """A command or an answer: bytes 2 to 6 say how long it is."""
    content = b""
    while len(content) < HEADER or len(content) < int.from_bytes(content[2:6], "big"):
        piece = read(4096)
        if not piece:
            return None
        content += piece
    return content


def main(port, link, unanswered=None):
    ours, device = pty.openpty()
    tty.setraw(device)
    # Else it would become the terminal of a process that opens it, and be reset with that one's end.
    fcntl.ioctl(device, termios.TIOCSCTTY, 0)
    os.symlink(os.ttyname(device), link)
    while True:
        command = whole(lambda count: os.read(ours, count))
        if command[6:10] == unanswered:
            continue
        try:
            with socket.create_connection(("127.0.0.1", port)) as tpm:
                tpm.sendall(command)
                answer = whole(tpm.recv)
        except OSError:
            answer = None
        # A device whose TPM is gone is gone, too.
        if answer is None:
            return
        os.write(ours, answer)


main(int(sys.argv[1]), sys.argv[2], *map(bytes.fromhex, sys.argv[3:]))
