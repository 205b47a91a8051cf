# SPDX-License-Identifier: Apache-2.0
"""The folders of a target have an order: none uses another that uses it, however indirectly.

A folder uses another where it names a type or a function that is declared in that folder alone.
Files that lie in no folder of their target belong to none, since they may join all of them.
"""
import collections
import re

TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
FUNCTION = re.compile(r"\bfunc\s+([a-z]\w*)")
HIDDEN = re.compile(r"\b(?:private|fileprivate)\b[^\n;{}]*$")
NAME = re.compile(r"(\.?)\b([A-Za-z_]\w*)\b(\s*[(<]?)")


def edges(sources):
    """For each target: (folder, folder that it uses) → a place where it does."""
    files = collections.defaultdict(list)
    for source in sources:
        parts = source.path.split("/")
        if parts[0] == "Sources" and len(parts) > 3:
            files[parts[1]].append((parts[2], source))
    return {
        target: _edges(members)
        for target, members in files.items()
        if len({folder for folder, _ in members}) > 1
    }


def _edges(members):
    types, functions = collections.defaultdict(set), collections.defaultdict(set)
    for folder, source in members:
        outside = _outermost(source.code)
        for pattern, names in ((TYPE, types), (FUNCTION, functions)):
            for found in pattern.finditer(outside):
                if not HIDDEN.search(outside, 0, found.start()):
                    names[found.group(1)].add(folder)
    found = {}
    for folder, source in members:
        for use in NAME.finditer(source.code):
            dot, name, call = use.groups()
            homes = types.get(name) if not dot else None
            if homes is None and not dot and call.endswith("("):
                homes = functions.get(name)
            if homes and len(homes) == 1 and folder not in homes:
                edge = (folder, next(iter(homes)))
                found.setdefault(edge, f"{source.path}:{source.line(use.start(2))}: {name}")
    return found


def _outermost(code):
    """The code outside all braces; the rest blank."""
    out, depth, last = [], 0, 0
    for brace in re.finditer(r"[{}]", code):
        if depth == 0:
            out.append(code[last : brace.start()])
        last = brace.end()
        depth += 1 if brace.group() == "{" else -1
    out.append(code[last:] if depth == 0 else "")
    return "\n".join(out)


def cycles(sources):
    """For each target: the uses between folders that are part of a cycle, with a place each."""
    found = {}
    for target, uses in edges(sources).items():
        reached = {folder: _reached(folder, uses) for edge in uses for folder in edge}
        inside = {
            f"{one} -> {other}": place
            for (one, other), place in uses.items()
            if one in reached[other]
        }
        if inside:
            found[target] = inside
    return found


def _reached(start, uses):
    seen, waiting = set(), [start]
    while waiting:
        at = waiting.pop()
        for one, other in uses:
            if one == at and other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def check(sources, listed):
    faults, now = [], cycles(sources)
    for target in sorted(now.keys() | listed.keys()):
        uses, known = now.get(target, {}), set(listed.get(target, []))
        faults += [
            f"{place}: closes a cycle of {target}'s folders ({edge})"
            for edge, place in sorted(uses.items())
            if edge not in known
        ]
        faults += [
            f"scripts/lint.d/ratchet.json: {target}'s folders have no cycle through “{edge}” any "
            "more: take it off the list"
            for edge in sorted(known - uses.keys())
        ]
    return faults
