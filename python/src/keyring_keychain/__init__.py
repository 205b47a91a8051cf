# SPDX-License-Identifier: Apache-2.0
"""Python's keyring on Keychain Services for Linux.

Each request is one line of JSON to `keyring-credential-keychain` and one line back, through pipes:
no secret is an argument, in the environment or in a file.
"""

from __future__ import annotations

import json
import shutil
import subprocess

from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential
from keyring.errors import KeyringError, KeyringLocked, PasswordDeleteError, PasswordSetError

try:
    from keyring.compat.properties import classproperty
except ImportError:  # before version 25
    from jaraco.classes.properties import classproperty

PROGRAM = "keyring-credential-keychain"
VERSION = 1


class _NotFound(Exception):
    pass


class Keyring(KeyringBackend):
    """Passwords as generic passwords of the keychain."""

    @classproperty
    def priority(cls) -> float:
        """Above the Secret Service's 5, below what is chosen by hand."""
        if shutil.which(PROGRAM) is None:
            raise RuntimeError(f"{PROGRAM} is not installed")
        return 5.5

    def get_password(self, service: str, username: str) -> str | None:
        try:
            return _text(_ask("get", service, username=username), "password")
        except _NotFound:
            return None

    def get_credential(self, service: str, username: str | None) -> SimpleCredential | None:
        try:
            if username is None:
                found = _ask("find", service)
            else:
                found = _ask("get", service, username=username)
        except _NotFound:
            return None
        return SimpleCredential(_text(found, "username"), _text(found, "password"))

    def set_password(self, service: str, username: str, password: str) -> None:
        try:
            _ask("set", service, username=username, password=password)
        except _NotFound as error:
            raise PasswordSetError(str(error)) from None
        except KeyringLocked:
            raise
        except KeyringError as error:
            raise PasswordSetError(str(error)) from None

    def delete_password(self, service: str, username: str) -> None:
        try:
            _ask("delete", service, username=username)
        except _NotFound:
            raise PasswordDeleteError("Password not found") from None
        except KeyringLocked:
            raise
        except KeyringError as error:
            raise PasswordDeleteError(str(error)) from None


def _ask(action: str, service: str, **fields: str) -> dict:
    request = {"v": VERSION, "do": action, "service": service, **fields}
    program = shutil.which(PROGRAM)
    if program is None:
        raise KeyringError(f"{PROGRAM} is not installed")
    # Standard error is the user's: the program asks there for nothing, and says what is wrong.
    done = subprocess.run([program], input=json.dumps(request).encode() + b"\n",
                          stdout=subprocess.PIPE, check=False)
    try:
        answer = json.loads(done.stdout)
    except (ValueError, RecursionError):
        raise KeyringError(f"{PROGRAM} gave no answer (status {done.returncode})") from None
    if not isinstance(answer, dict):
        raise KeyringError(f"{PROGRAM} gave an answer that is none")
    kind = answer.get("error")
    if kind is None:
        return answer
    message = answer.get("message", kind)
    if kind == "not-found":
        raise _NotFound(message)
    raise KeyringLocked(message) if kind == "locked" else KeyringError(message)


def _text(answer: dict, name: str) -> str:
    """A member that must be there, and a text."""
    text = answer.get(name)
    if not isinstance(text, str):
        raise KeyringError(f"{PROGRAM} gave an answer without a {name}")
    return text
