# SPDX-License-Identifier: Apache-2.0
"""keyring's own tests of a backend, on a real keychain, and what they leave out."""

import shutil
import subprocess

import pytest
from keyring.errors import KeyringError, KeyringLocked, PasswordSetError
from keyring.testing.backend import BackendBasicTests

import keyring_keychain


class TestKeychain(BackendBasicTests):
    def init_keyring(self):
        return keyring_keychain.Keyring()

    @pytest.mark.parametrize("password", ["line\nline", "\x01\x7f", "\\\"/", "a" * 100_000, "\U0001f600"])
    def test_any_text_comes_back(self, password):
        self.set_password("any", "me", password)
        assert self.keyring.get_password("any", "me") == password

    def test_no_user_means_any(self):
        self.set_password("one", "me", "x")
        found = self.keyring.get_credential("one", None)
        assert (found.username, found.password) == ("me", "x")

    @pytest.mark.parametrize("service", ["nul\0", "\udc80"])
    def test_what_is_no_name_is_refused(self, service):
        with pytest.raises(PasswordSetError):
            self.keyring.set_password(service, "me", "hunter2")

    def test_what_is_too_long_is_refused_without_a_word_of_it(self, capfd):
        with pytest.raises(PasswordSetError) as refused:
            self.keyring.set_password("long", "me", "hunter2" * 1_000_000)
        assert "hunter2" not in str(refused.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize("answer, error", [
    (b"", KeyringError), (b"nonsense", KeyringError),
    (b"[]", KeyringError), (b"null", KeyringError), (b'"hunter2"', KeyringError), (b"1", KeyringError),
    (b"[" * 100_000, KeyringError), (b'"\xff"', KeyringError), (b"{}", KeyringError),
    (b'{"ok":true,"password":null}', KeyringError), (b'{"ok":true,"password":["hunter2"]}', KeyringError),
    (b'{"error":["locked"]}', KeyringError), (b'{"error":"locked","message":"m"}', KeyringLocked),
    (b'{"error":"failed","message":"m"}', KeyringError)])
def test_no_password_is_made_of_another_answer(monkeypatch, answer, error):
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/" + name)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess((), 1, answer))
    for ask in (keyring_keychain.Keyring().get_password, keyring_keychain.Keyring().get_credential):
        with pytest.raises(error) as refused:
            ask("a", "b")
        assert "hunter2" not in str(refused.value)


def test_without_the_program_the_backend_is_none(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert not keyring_keychain.Keyring.viable
