// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax

/// A day on which the tests take place: 2026-11-21, a Saturday.
let testDay: Int32 = 20_778

/// A file called `p.yaml`.
func file(_ text: String, _ name: String = "p.yaml") -> SourceFile {
    SourceFile(path: name, bytes: Array(text.utf8))
}

func load(_ text: String) -> LoadedPolicies { LoadedPolicies([[file(text)]], today: testDay) }

/// A file whose rules these are.
func rules(_ text: String) -> String {
    "policy: v1\nname: n\nrules:\n" + text
}
