// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// A rule with the places that a check of the whole set needs.
public struct LoadedRule: Sendable {
    public var rule: PolicyRule
    var replacesPlace: SourcePlace?
}

/// One file of policies, read.
public struct PolicyFile: Sendable {
    public let source: SourceFile
    /// Which folder: 0 is the vendor's; a later one wins.
    public let level: Int
    public internal(set) var name = ""
    public internal(set) var rules: [LoadedRule] = []
    public internal(set) var closed: [ClosedScope] = []
    public internal(set) var groups: [GroupMembership] = []
    public internal(set) var assertions: [PolicyAssertion] = []
    public internal(set) var tests: [PolicyTest] = []
    /// It says nothing: what it replaces is masked.
    public internal(set) var isMask = false
    public internal(set) var diagnostics: [Diagnostic] = []

    init(_ source: SourceFile, level: Int) {
        self.source = source
        self.level = level
    }

    /// `10-baseline.yaml`
    public var baseName: String { FilePath.last(of: source.path) }

    /// A file of tests, which may hold nothing else.
    public var isTestFile: Bool { baseName.hasSuffix("_test.yaml") }

    public var policy: PolicySet {
        PolicySet(
            rules: rules.map(\.rule), closed: closed, groups: groups, assertions: assertions)
    }

    /// How many rules and scopes it has.
    public var ruleCount: Int { rules.count + closed.count + groups.count }
}

enum FilePath {
    static func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
