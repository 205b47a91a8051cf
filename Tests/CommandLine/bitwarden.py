# SPDX-License-Identifier: Apache-2.0
"""Makes an export of Bitwarden with a password of its own, by the format's description.

    bitwarden.py PASSWORD ROUNDS <JSON
"""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys

password, rounds = sys.argv[1], int(sys.argv[2])
salt = base64.b64encode(os.urandom(16)).decode()
key = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), rounds)
text_key, code_key = (hmac.digest(key, name + b"\1", "sha256") for name in (b"enc", b"mac"))


def encrypted(plain):
    initial = os.urandom(16)
    sealed = subprocess.run(
        ["openssl", "enc", "-aes-256-cbc", "-K", text_key.hex(), "-iv", initial.hex()], input=plain,
        capture_output=True, check=True).stdout
    code = hmac.digest(code_key, initial + sealed, "sha256")
    return "2." + "|".join(base64.b64encode(part).decode() for part in (initial, sealed, code))


json.dump({
    "encrypted": True, "passwordProtected": True, "salt": salt, "kdfType": 0, "kdfIterations": rounds,
    "kdfMemory": None, "kdfParallelism": None,
    "encKeyValidation_DO_NOT_EDIT": encrypted(b"8b4f1f8e-2f3c-4c58-9b5e-0d4a1f3d6a11"),
    "data": encrypted(sys.stdin.buffer.read()),
}, sys.stdout, indent=2)
