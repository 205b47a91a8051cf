// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicySyntax

/// A rule with the places that a check of the whole set needs.
package struct LoadedRule: Sendable {
    package var rule: PolicyRule
    var replacesPlace: SourcePlace?
}

/// One file of policies, after reading.
package struct PolicyFile: Sendable {
    package let source: SourceFile
    /// The index of the folder: 0 is the vendor's; a later one wins.
    package let level: Int
    package internal(set) var name = ""
    package internal(set) var rules: [LoadedRule] = []
    package internal(set) var closed: [ClosedScope] = []
    package internal(set) var groups: [GroupMembership] = []
    package internal(set) var assertions: [PolicyAssertion] = []
    package internal(set) var tests: [PolicyTest] = []
    /// The file is empty, so that the file which it replaces is masked.
    package internal(set) var isMask = false
    package internal(set) var diagnostics: [Diagnostic] = []

    init(_ source: SourceFile, level: Int) {
        self.source = source
        self.level = level
    }

    /// `10-baseline.yaml`
    package var baseName: String { FilePath.last(of: source.path) }

    /// Whether it is a file of tests, which may have nothing else.
    package var isTestFile: Bool { baseName.hasSuffix("_test.yaml") }

    package var policy: PolicySet {
        PolicySet(
            rules: rules.map(\.rule), closed: closed, groups: groups, assertions: assertions)
    }

    /// The number of rules, scopes and memberships.
    package var ruleCount: Int { rules.count + closed.count + groups.count }
}

enum FilePath {
    static func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
