# SPDX-License-Identifier: Apache-2.0
"""Comments, texts, pages and the names of tests name their subject: no “nobody”, “somebody”,
“anybody”, “whoever”, and no “he” for a user or a program."""
import collections
import io
import re
import tokenize

# Code in backticks and parts of a name with hyphens (“nobody-s.keychain”) are left out.
WORD = re.compile(
    r"(?<![`.\w-])(?:nobody|somebody|anybody|whoever|he|his|him|himself)(?:['’]s)?(?![`\w(-])",
    re.IGNORECASE)
# A text of one word is a name, such as that of the account: "nobody".
NAME = re.compile(r"""(["'])\w+\1""")
C_PARTS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
TEST_NAME = re.compile(r"`[^`\n]* [^`\n]*`")
SHELL_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
# What pages show of code and of what programs print.
PAGE_CODE = re.compile(
    r"^ *(```+|~~~+).*?^ *\1|^ {4}[^\n]*|`+[^`\n]*`+", re.DOTALL | re.MULTILINE)
MANUAL_CODE = re.compile(r"^\.nf$.*?^\.fi$", re.DOTALL | re.MULTILINE)
# This rule and its test say the words themselves.
OWN = {"scripts/lint.d/words.py", "Tests/Lint/fences"}


def reader(path):
    """What finds the sentences of a file that is not Swift; None for one that has none."""
    if path in OWN:
        return None
    for suffixes, found in (
        ((".c", ".h"), c_sentences),
        ((".py",), python_sentences),
        ((".sh", ".test", ".yaml"), shell_sentences),
        ((".md",), page_sentences),
        ((".1", ".5", ".8"), manual_sentences),
    ):
        if path.endswith(suffixes):
            return found
    with open(path, "rb") as file:
        first = file.readline(80)
    if not first.startswith(b"#!"):
        return None
    return python_sentences if b"python" in first else shell_sentences


def sentences(source):
    """(offset, text) of each comment, text and test's name of a Swift file."""
    yield 0, source.comments
    yield from source.strings
    for found in TEST_NAME.finditer(source.code):
        yield found.start() + 1, found.group()[1:-1]


def c_sentences(text):
    for found in C_PARTS.finditer(text):
        yield found.start(), found.group()


def python_sentences(text):
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = lines[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.NAME and token.string.startswith("test_"):
            yield start, token.string.replace("_", " ")
        elif tokenize.tok_name[token.type] in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            yield start, token.string


def shell_sentences(text):
    for found in SHELL_COMMENT.finditer(text):
        yield found.start(), found.group()


def page_sentences(text):
    yield 0, PAGE_CODE.sub(blank, text)


def manual_sentences(text):
    yield 0, MANUAL_CODE.sub(blank, text)


def blank(code):
    """As long as the code and with its lines, so that what follows keeps its place."""
    return re.sub(r"[^\n]", " ", code.group())


def places(files):
    """For each folder the places of such words. `files`: (path, text, sentences)."""
    found = collections.defaultdict(list)
    for path, text, said in files:
        for start, sentence in said:
            if NAME.fullmatch(sentence):
                continue
            for word in WORD.finditer(sentence):
                line = text.count("\n", 0, start + word.start()) + 1
                found["/".join(path.split("/")[:2])].append(f"{path}:{line}: “{word.group()}”")
    return found


def check(files, listed):
    faults, now = [], places(files)
    for folder in sorted(now.keys() | listed.keys()):
        count, known = len(now.get(folder, [])), listed.get(folder, 0)
        if count > known:
            faults += [f"{place}: name the subject" for place in now[folder]]
            faults.append(f"{folder}: {count} such words, {known} in scripts/lint.d/ratchet.json")
        elif count < known:
            faults.append(
                f"scripts/lint.d/ratchet.json: {folder} has {count} such words by now, "
                f"not {known}: write the smaller number")
    return faults
