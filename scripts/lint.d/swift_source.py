# SPDX-License-Identifier: Apache-2.0
"""Swift files as the fences see them: code without comments and texts, comments without code."""
import re
import subprocess

# Where a piece of Swift begins that is not plain code. `#"` opens a raw string.
OPENERS = re.compile(r'//|/\*|#*"""|#*"|[()]')
BLOCK = re.compile(r"/\*|\*/")


class Source:
    """One file. `code` and `comments` are the text with all else blanked: offsets and lines agree."""

    def __init__(self, path, text=None):
        self.path = path
        self.text = open(path, encoding="utf-8").read() if text is None else text
        self.strings = []
        self.code, self.comments = self._divide()

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def _divide(self):
        text, parts = self.text, []  # (kind, start, end) of comments and texts, in order
        at = 0
        depths = []  # one entry for each open interpolation: (its depth of parentheses, its string)
        depth = 0
        while found := OPENERS.search(text, at):
            token, start, at = found.group(), found.start(), found.end()
            if token == "//":
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
                parts.append(("comment", start, at))
            elif token == "/*":
                nested = 1
                while nested and (mark := BLOCK.search(text, at)):
                    nested += 1 if mark.group() == "/*" else -1
                    at = mark.end()
                at = at if not nested else len(text)
                parts.append(("comment", start, at))
            elif token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
                if depths and depth == depths[-1][0]:
                    delimiter = depths.pop()[1]
                    at = self._string(text, at, delimiter, parts, depths, depth, at)
                    depth = depth + 1 if self.interpolates else depth
            else:
                at = self._string(text, start, token, parts, depths, depth, at)
                depth = depth + 1 if self.interpolates else depth
        code, comments, last = [], [], 0
        for kind, start, end in parts:
            code.append(text[last:start])
            comments.append(_blank(text[last:start]))
            code.append(_blank(text[start:end]))
            comments.append(text[start:end] if kind == "comment" else _blank(text[start:end]))
            if kind == "string":
                self.strings.append((start, text[start:end]))
            last = end
        code.append(text[last:])
        comments.append(_blank(text[last:]))
        return "".join(code), "".join(comments)

    def _string(self, text, start, delimiter, parts, depths, depth, at):
        """Reads a text to its end or to its next interpolation."""
        hashes = re.escape(delimiter.rstrip('"'))
        quotes = delimiter.lstrip("#")
        stop = re.compile(rf'\\{hashes}\(|\\{hashes}.|{quotes}{hashes}', re.DOTALL)
        self.interpolates = False
        while mark := stop.search(text, at):
            at = mark.end()
            if mark.group().endswith("(") and mark.group().startswith("\\"):
                self.interpolates = True
                depths.append((depth, delimiter))
                break
            if not mark.group().startswith("\\"):
                break
        else:
            at = len(text)
        parts.append(("string", start, at - 1 if self.interpolates else at))
        return at


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def paths(*patterns):
    """Files of the repository, new ones included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        capture_output=True, check=True, text=True,
    ).stdout.split("\0")
    import os
    return sorted({path for path in listed if path and os.path.exists(path)})
