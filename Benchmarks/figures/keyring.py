# SPDX-License-Identifier: Apache-2.0
"""Writes a keyring of gnome-keyring's binary format (version 0): items that `secret` looks for."""

import hashlib
import os
import struct
import subprocess
import time

ROUNDS = 2500


def number(value):
    return struct.pack(">I", value)


def text(value):
    return number(len(value)) + value.encode()


def moment():
    return struct.pack(">Q", int(time.time()))


def write(path, name, password, count):
    salt = os.urandom(8)
    digest = password.encode() + salt
    for _ in range(ROUNDS):
        digest = hashlib.sha256(digest).digest()
    public, parts = [number(count)], []
    for i in range(count):
        attributes = {"account": f"user-{i}@example.com", "service": f"svc-{i % 100}",
                      "xdg:schema": "org.bench.Item"}
        public.append(number(i + 1) + number(0) + number(len(attributes)) + b"".join(
            text(key) + number(0) + text(hashlib.md5(value.encode()).hexdigest())
            for key, value in attributes.items()))
        parts.append(text(f"Item {i}") + text("a secret of 24 bytes ...") + moment() + moment()
                     + number(0xFFFFFFFF) + bytes(16) + number(len(attributes))
                     + b"".join(text(key) + number(0) + text(value)
                                for key, value in attributes.items()) + number(0))
    secret = b"".join(parts)
    secret += bytes(-len(secret) % 16)
    secret = hashlib.md5(secret).digest() + secret
    sealed = subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-nopad", "-K", digest[:16].hex(), "-iv",
         digest[16:32].hex()], input=secret, check=True, capture_output=True).stdout
    head = (b"GnomeKeyring\n\r\0\n" + bytes(4) + text(name) + moment() + moment() + number(0)
            + number(0) + number(ROUNDS) + salt + bytes(16))
    path.write_bytes(head + b"".join(public) + number(len(sealed)) + sealed)
    path.chmod(0o600)
