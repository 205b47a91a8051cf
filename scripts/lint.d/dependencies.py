# SPDX-License-Identifier: Apache-2.0
"""A target imports what it declares, and declares what it imports.

The compiler's own check (--explicit-target-dependency-import-check) takes a dependency's
dependencies for declared.
"""
import hashlib
import json
import os
import re
import subprocess

# Modules of the toolchain and the system. All others are targets or products.
SYSTEM = {"CoreFoundation", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Swift",
          "Synchronization", "Testing"}

IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?"
    r"import[ \t]+(?:(?:struct|class|enum|protocol|typealias|func|var|let)[ \t]+)?(\w+)",
    re.MULTILINE,
)


def package():
    """What SwiftPM understands of Package.swift, kept until that changes."""
    manifest = open("Package.swift", "rb").read()
    kept = os.path.join(".build", "lint", hashlib.sha256(manifest).hexdigest() + ".json")
    if not os.path.exists(kept):
        dump = subprocess.run(
            ["swift", "package", "--scratch-path", os.path.join(".build", "lint", "package"),
             "dump-package"], capture_output=True, check=True).stdout
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        with open(kept + ".new", "wb") as file:
            file.write(dump)
        os.replace(kept + ".new", kept)
    return json.load(open(kept, encoding="utf-8"))


def folder(target):
    if target.get("path"):
        return target["path"].rstrip("/")
    return ("Tests/" if target["type"] == "test" else "Sources/") + target["name"]


def check(sources, package):
    faults = []
    for target in package["targets"]:
        place = folder(target)
        files = [source for source in sources if source.path.startswith(place + "/")]
        if not files:
            continue
        declared = {next(iter(kind.values()))[0] for kind in target["dependencies"]}
        imported = set()
        for source in files:
            for found in IMPORT.finditer(source.code):
                module = found.group(1)
                imported.add(module)
                if module not in declared | SYSTEM | {target["name"]}:
                    faults.append(
                        f"{source.path}:{source.line(found.start(1))}: {target['name']} imports "
                        f"{module}, which is none of its dependencies in Package.swift")
        for unused in sorted(declared - imported):
            faults.append(
                f"Package.swift: {target['name']} depends on {unused}, which no file imports")
    return faults
