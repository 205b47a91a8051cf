// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyLanguage

/// One small change of a rule, scope or group that tests should notice.
package struct PolicyMutation: Sendable {
    package let id: PolicyText
    package let origin: PolicyOrigin
    /// The change in words.
    package let change: String

    /// Changes that no test catches, and the number of tried ones. A file's tests run against the
    /// file's rules, so each file is changed by itself, and then the whole set for the files of
    /// tests.
    package static func survivors(
        of loaded: LoadedPolicies
    ) -> (tried: Int, survivors: [PolicyMutation]) {
        let setTests = loaded.files.filter(\.isTestFile).flatMap(\.tests)
        let set = setTests.isEmpty ? nil : TestBench(loaded.policy, setTests)
        var count = MutationCount(
            rules: set?.policy.rules.places(\.id) ?? [:],
            scopes: set?.policy.closed.places(\.id) ?? [:],
            groups: set?.policy.groups.places(\.id) ?? [:], set: set)
        for file in loaded.files where !file.isTestFile {
            var bench = TestBench(file.policy, file.tests)
            count.add(&bench)
        }
        return (count.tried, count.survivors)
    }
}

/// The results of the changes in some files.
private struct MutationCount {
    /// Their indices in the whole set, against which its own tests run; replaced rules have none.
    let rules: [PolicyText: Int]
    let scopes: [PolicyText: Int]
    let groups: [PolicyText: Int]
    private var set: TestBench?
    private(set) var tried = 0
    private(set) var survivors: [PolicyMutation] = []

    init(
        rules: [PolicyText: Int], scopes: [PolicyText: Int], groups: [PolicyText: Int],
        set: TestBench?
    ) {
        self.rules = rules
        self.scopes = scopes
        self.groups = groups
        self.set = set
    }

    mutating func add(_ file: inout TestBench) {
        let policy = file.policy
        for (place, rule) in policy.rules.enumerated() {
            let other = rules[rule.id]
            for change in rule.mutations {
                let isSeen =
                    file.notices(change.value, at: place)
                    || other.flatMap { set?.notices(change.value, at: $0) } ?? false
                note(rule.id, rule.origin, change.words, isSeen)
            }
        }
        for (place, scope) in policy.closed.enumerated() {
            let other = scopes[scope.id]
            for change in scope.mutations {
                let isSeen =
                    file.notices(change.value, at: place)
                    || other.flatMap { set?.notices(change.value, at: $0) } ?? false
                note(scope.id, scope.origin, change.words, isSeen)
            }
        }
        for (place, group) in policy.groups.enumerated() {
            let other = groups[group.id]
            for change in group.mutations {
                let isSeen =
                    file.notices(change.value, at: place)
                    || other.flatMap { set?.notices(change.value, at: $0) } ?? false
                note(group.id, group.origin, change.words, isSeen)
            }
        }
    }

    private mutating func note(
        _ id: PolicyText, _ origin: PolicyOrigin, _ change: String, _ isSeen: Bool
    ) {
        tried += 1
        if !isSeen { survivors.append(PolicyMutation(id: id, origin: origin, change: change)) }
    }
}

extension Array {
    fileprivate func places(_ id: KeyPath<Element, PolicyText>) -> [PolicyText: Int] {
        Dictionary(
            enumerated().map { ($0.element[keyPath: id], $0.offset) }, uniquingKeysWith: { $1 })
    }
}
