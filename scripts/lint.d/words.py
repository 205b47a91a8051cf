# SPDX-License-Identifier: Apache-2.0
"""Comments and sentences name their subject: no “nobody”, “somebody”, “anybody”, “whoever”, and no
“he” for a user or a program."""
import collections
import re

WORD = re.compile(
    r"(?<![`.\w])(?:nobody|somebody|anybody|whoever|he|his|him|himself)(?:['’]s)?(?![`\w(])", re.IGNORECASE)
C_PARTS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def sentences(source):
    """(offset, text) of each comment and text of a Swift file."""
    yield 0, source.comments
    yield from source.strings


def c_sentences(text):
    for found in C_PARTS.finditer(text):
        yield found.start(), found.group()


def places(files):
    """For each folder the places of such words. `files`: (path, text, sentences)."""
    found = collections.defaultdict(list)
    for path, text, said in files:
        for start, sentence in said:
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
