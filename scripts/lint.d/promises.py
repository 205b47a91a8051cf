# SPDX-License-Identifier: Apache-2.0
"""`public` is a promise to programs that depend on this package. All else is `package`."""
import re

PROMISED = {"Security", "LocalAuthentication", "KeychainForSwift"}
# The policy engine, which the package in Benchmarks measures: its targets, and the names of
# KeychainModel that they speak of.
MEASURED = {
    "KeychainAccessControl", "KeychainModel", "KeychainPolicyCompiler", "KeychainPolicyEngine",
    "KeychainPolicyModel",
}

WORD = re.compile(
    r"(?<![.\w`])(?:public(?=[ \t\n(])|open(?=[ \t]+(?:class|func|var|override|subscript)\b))")


def check(sources):
    return [
        f"{source.path}:{source.line(found.start())}: `{found.group()}` in a target that promises "
        "nothing to other packages: write `package`"
        for source in sources
        if source.path.startswith("Sources/")
        and source.path.split("/")[1] not in PROMISED | MEASURED
        for found in WORD.finditer(source.code)
    ]
