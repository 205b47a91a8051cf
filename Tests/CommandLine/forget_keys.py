# SPDX-License-Identifier: Apache-2.0
"""Takes the keys of the keychains in a folder out of the kernel's user keyring.

An embedded keychain stays unlocked until its user logs out. Those of a test are found again by the
identifier in their files, so that no other keychain's key is touched.
"""

import ctypes
import pathlib
import sys

USER_KEYRING = -4

files = [path.read_bytes() for path in pathlib.Path(sys.argv[1]).glob("*.keychain*")]
try:
    keys = pathlib.Path("/proc/keys").read_text().splitlines()
    library = ctypes.CDLL("libkeyutils.so.1")
except OSError:
    sys.exit(0)  # Without the kernel's keyring nothing is in it.
for line in keys:
    fields = line.split()
    name = fields[8].rstrip(":") if len(fields) > 8 else ""
    if fields[7] != "user" or not name.startswith("keychain:"):
        continue
    try:
        identifier = bytes.fromhex(name.removeprefix("keychain:"))
    except ValueError:
        continue
    if len(identifier) == 16 and any(identifier in file for file in files):
        library.keyctl_unlink(int(fields[0], 16), USER_KEYRING)
