// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
public import KeychainPolicyModel

/// The access groups that a caller may know of besides its own: what a search must look into. Each
/// item found there is decided by itself.
public struct VisibleGroups: Sendable, Equatable {
    /// By name, where a rule names one.
    public var groups: [PolicyText] = []
    /// A rule that fits the caller names groups by a pattern: there may be any.
    public var anyGroup = false

    public init() {}
    public var isEmpty: Bool { groups.isEmpty && !anyGroup }
}

extension CompiledPolicy {
    public var isEmpty: Bool { statementCount == 0 }

    /// What shares and groups let the subject know of, for some item. Of a policy made from
    /// `PolicySet.reachOnly`, which leaves open what is asked of the item. In the machine's
    /// keychain a share counts `byNameAlone`.
    public func reach(
        _ subject: PolicyFacts, for operation: PolicyOperation, byNameAlone: Bool = false
    ) -> VisibleGroups {
        var subject = subject
        subject[.keychain] = .known([byNameAlone ? Self.machines : Self.another])
        var reach = VisibleGroups()
        for record in 0..<image.count(.symbols) {
            let head = image.word(.symbols, record)
            let text = image.text(.symbols, record, 1)
            switch head {
            case PolicyImage.symbolHead(.accessGroup, .literal):
                if mayReach(text, subject, operation) { reach.groups.append(text) }
            case PolicyImage.symbolHead(.accessGroup, .prefix):
                reach.anyGroup = reach.anyGroup || mayReach(text, subject, operation)
            case PolicyImage.symbolHead(.accessGroup, .suffix):
                reach.anyGroup =
                    reach.anyGroup || mayReach(PolicyText("x" + text.string), subject, operation)
            case PolicyImage.symbolHead(.accessGroup, .anchor):
                // What fits a pattern with stars inside can't be made up here.
                reach.anyGroup = true
            default: continue
            }
        }
        if byNameAlone { reach.anyGroup = false }
        return reach
    }

    private func mayReach(
        _ group: PolicyText, _ subject: PolicyFacts, _ operation: PolicyOperation
    ) -> Bool {
        var facts = subject
        facts[.accessGroup] = .known([group])
        facts[.member] = .known(false)
        let ruling = decide(admit(PolicyRequest(operation, facts: facts, day: .max)))
        return ruling.outcome != .deny
    }

    private static let machines = PolicyText(KeychainName.system.description)
    /// Some other keychain: which one makes no difference.
    private static let another = PolicyText(KeychainName.login.description)
}
