# SPDX-License-Identifier: Apache-2.0
"""What the installed programs are to the loader, and what they keep of their starter's."""

import os
import pathlib
import re
import shutil

import pytest

import world
from conftest import ALICE
from graphical import processes

PROGRAMS = ("bin/keychainctl", "bin/security", "bin/keychain-askpass", "bin/git-credential-keychain",
            "bin/docker-credential-keychain", "bin/cargo-credential-keychain",
            "bin/aws-credential-keychain", "bin/keyring-credential-keychain",
            "sbin/keychaind", "libexec/keychain/keychain-worker",
            "libexec/keychain/keychain-auth", "libexec/keychain/keychain-broker",
            "libexec/keychain/keychain-starter", "libexec/keychain/keychain-audit",
            "libexec/keychain/keychain-embedded", "libexec/keychain/keychain-fido",
            "libexec/keychain/keychain-import",
            "libexec/keychain/keychain-prompter", "libexec/keychain/keychain-tpm",
            "libexec/keychain/keychain-worker", "libexec/keychain/keychainctl-policy",
            "libexec/keychain/keychainctl-import",
            "libexec/keychain/keychain-secrets", "libexec/keychain/keychain-secrets-embedded",
            "libexec/keychain/security-certificates", "lib/security/pam_keychain.so")


LIBRARIES = world.PREFIX / "lib/keychain-services"
LIBRARY, = LIBRARIES.glob("*.so")


@pytest.mark.parametrize("name", [*PROGRAMS, str(LIBRARY.relative_to(world.PREFIX))])
def test_a_program_takes_its_library_from_its_installation_and_closes_its_tables(name):
    program = world.PREFIX / name
    dynamic = world.run("readelf", "--dynamic", "--wide", program).stdout
    assert "RUNPATH" not in dynamic
    # These are C, and the library has no other.
    is_alone = program.suffix == ".so" or program.name in (
        "keychain-starter", "keychain-audit")
    wanted = [] if is_alone else [str(LIBRARIES)]
    assert re.findall(r"\(RPATH\).*\[(.*)\]", dynamic) == wanted
    assert re.search(r"FLAGS_1.*NOW", dynamic)
    assert "GNU_RELRO" in world.run("readelf", "--program-headers", "--wide", program).stdout


def test_every_program_is_among_them():
    found = {str(path.relative_to(world.PREFIX))
             for folder in ("bin", "sbin", "libexec/keychain")
             for path in (world.PREFIX / folder).iterdir() if "keychain" in path.name or path.name.startswith("security")}
    assert found <= set(PROGRAMS)


def test_every_program_has_a_manual_page():
    pages = {path.stem for path in (world.PREFIX / "share/man").glob("man*/*")}
    assert {pathlib.Path(name).stem for name in PROGRAMS} <= pages


def completed(shell, words):
    """What a shell offers for the last of the words."""
    share = world.PREFIX / "share"
    if shell == "bash":
        script = (f". {share}/bash-completion/completions/keychainctl; COMP_WORDS=({words}); "
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                  '_keychainctl keychainctl "${COMP_WORDS[COMP_CWORD]}" keychainctl; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
    else:
        script = (f"source {share}/fish/vendor_completions.d/keychainctl.fish; "
                  f"complete --do-complete '{words}'")
    return {line.split()[0] for line in world.run(shell, "-c", script).stdout.splitlines() if line}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_commands_and_options(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert completed(shell, "keychainctl prot") == {"protector"}
    assert {"add", "list", "remove"} <= completed(shell, "keychainctl protector r") | completed(
        shell, "keychainctl protector a") | completed(shell, "keychainctl protector l")
    assert "--service" in completed(shell, "keychainctl get generic-password --serv")


def test_zsh_takes_the_completions_as_keychainctl_s(tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    file, = (world.PREFIX / "share/zsh").glob("*/_keychainctl")
    told = world.run("zsh", "-f", "-c", f"fpath=({file.parent} $fpath); autoload -Uz compinit; "
                     f"compinit -u -d {tmp_path}/dump; print $_comps[keychainctl]; "
                     f"autoload +X _keychainctl && print loaded")
    assert told.stdout.split() == ["_keychainctl", "loaded"]


def test_which_second_device_is_whose_stands_in_a_file_of_root_s():
    service = world.TOP / "packaging/pam.d/keychain-companion"
    keys, = [line for line in service.read_text().splitlines()
             if not line.startswith("#") and "pam_u2f.so" in line]
    assert re.search(r" authfile=/etc/\S+( |$)", keys)


@pytest.fixture
def prompter(login):
    """The installed prompter, with a descriptor and a word from its starter, and less than that."""
    shell = login(ALICE)
    shell.send(f"WORD_OF_THE_STARTER=x {world.PREFIX}/libexec/keychain/keychain-prompter --terminal"
               " 7</etc/passwd <&- 2>&-")
    shell.terminal.expect("waiting")
    found, = processes("keychain-prompter")
    return found


def test_the_prompter_closes_what_it_inherits_and_opens_what_it_lacks(prompter):
    opened = {int(entry.name): os.readlink(entry) for entry in (prompter / "fd").iterdir()}
    assert "/etc/passwd" not in opened.values()
    # The C library may have been first.
    assert {opened[0], opened[2]} <= {"/dev/null", "/dev/full"}


def test_the_prompter_keeps_no_variable_of_its_starter_s(prompter):
    assert b"WORD_OF_THE_STARTER=x" in (prompter / "environ").read_bytes()
    assert pointer_to_environment(prompter) == 0


def pointer_to_environment(process):
    """What the C library's `environ` points to in that process."""
    mapped = next(line for line in (process / "maps").read_text().splitlines()
                  if line.endswith("/libc.so.6"))
    symbols = world.run("nm", "--dynamic", "--defined-only", mapped.split()[-1]).stdout
    offset = next(int(line.split()[0], 16) for line in symbols.splitlines()
                  if re.search(r" environ(@|$)", line))
    with open(process / "mem", "rb") as memory:
        memory.seek(int(mapped.split("-")[0], 16) + offset)
        return int.from_bytes(memory.read(8), "little")
