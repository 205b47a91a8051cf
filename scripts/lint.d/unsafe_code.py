# SPDX-License-Identifier: Apache-2.0
"""`unsafe` stays behind the doors, and each function with unsafe code says why it is safe."""
import bisect
import re

# The targets that may hold unsafe code. A target comes in with its reason, in a review of its own.
DOORS = {
    "AccountDatabase": "the C library's look-ups of accounts",
    "AuditHandoff": "the C code of the audit's records",
    "KeychainCertificates": "CryptoKit reads keys where they lie",
    "KeychainDatabase": "SQLite",
    "KeychainKernelKeyring": "libkeyutils",
    "KeychainLinuxSystem": "system calls: files, processes, users",
    "KeychainLocalSocket": "system calls: sockets",
    "KeychainSecrets": "libsodium, locked memory",
    "LibCrypto": "libcrypto",
    "LibYAML": "libyaml",
    "LocalAuthentication": "Apple's error pointers",
    "LoginHandoff": "the login frames' C code",
    "LoginManager": "libsystemd",
    "MessageBus": "libsystemd",
    "PAMSession": "libpam",
    "Pinentry": "bytes of a pinentry's lines",
    "ProcessBroker": "the C code by which a peer is known",
    "ProgramHandoff": "the C code of the starter's records",
    "Security": "Apple's result pointers and constants",
    "SecurityKeys": "libfido2",
    "Terminal": "termios, signals",
    "TrustedPlatform": "tpm2-tss",
    "keychain-auth": "chdir, before PAM's modules run",
    "keychain-tpm": "access, to tell a machine without a TPM",
}

WORD = re.compile(r"\bunsafe\b")
HEADER = re.compile(r"\bfunc\s+\S|\binit\b[?!]?\s*[(<]|\bdeinit\b|\bsubscript\b\s*[(<]|\bvar\s+\w")
# What ends a header without a body: the next declaration, the end of the type, a value.
PAST = re.compile(r"[(){}=]|\b(?:func|init|deinit|subscript|var|let|case|return)\b")
DECLARATION = re.compile(r"\b(?:let|var)\b")


def check(sources):
    faults = []
    for source in sources:
        target = source.path.split("/")[1]
        words = [found.start() for found in WORD.finditer(source.code)]
        if not words:
            continue
        if target not in DOORS:
            faults += [
                f"{source.path}:{source.line(at)}: unsafe code in {target}, which is no door "
                "(scripts/lint.d/unsafe_code.py)"
                for at in words
            ]
        faults += _unexplained(source, words)
    return faults


def _unexplained(source, words):
    lines = source.code.split("\n")
    comments = source.comments.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    bodies = _bodies(source.code)
    seen = set()
    for at in words:
        row = bisect.bisect_right(starts, at) - 1
        around = [body for body in bodies if body[0] <= at < body[1]]
        if around:
            start, end = max(around)
            first, last = (bisect.bisect_right(starts, edge) - 1 for edge in (start, end))
            if first in seen or any("Safe:" in line for line in comments[first : last + 1]):
                seen.add(first)
                continue
        else:
            first = row
            while first and not DECLARATION.search(lines[first]):
                first -= 1
            if any("Safe:" in line for line in comments[first : row + 1]):
                continue
        if "Safe:" in _above(lines, comments, first, constants=not around):
            continue
        seen.add(first)
        yield f"{source.path}:{row + 1}: unsafe code without a “Safe:” line that says why it holds"


def _above(lines, comments, row, constants):
    """The comment above a declaration. One above a list of constants holds for all of the list."""
    said = []
    while row:
        row -= 1
        code = lines[row].strip()
        if comments[row].strip():
            said.append(comments[row])
        if code and not code.startswith("@"):
            if not (constants and re.match(r"(nonisolated\(unsafe\) )?(public |static )*let ", code)):
                break
        if not code and not comments[row].strip() and not constants:
            break
    return "\n".join(said)


def _bodies(code):
    """(start of the header, end of the body) of each function and computed property."""
    closing, open_ = {}, []
    for found in re.finditer(r"[{}]", code):
        if found.group() == "{":
            open_.append(found.start())
        elif open_:
            closing[open_.pop()] = found.start()
    found = []
    for header in HEADER.finditer(code):
        at, depth = header.start() + 4, 0
        while mark := PAST.search(code, at):
            at = mark.end()
            if mark.group() == "(":
                depth += 1
            elif mark.group() == ")":
                depth -= 1
            elif depth:
                continue
            elif mark.group() == "{":
                found.append((header.start(), closing.get(mark.start(), len(code))))
                break
            elif mark.group() == "init" and code[mark.start() - 1] == ".":
                continue
            else:
                break
    return found
