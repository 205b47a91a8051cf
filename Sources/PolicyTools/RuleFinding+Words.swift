// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicySyntax

extension RuleFinding {
    var message: String {
        switch kind {
        case .neverMatches: "rule \(id) matches nothing: its conditions exclude each other"
        case .matchesOnlyTheUnknown:
            "rule \(id) matches only what could not be established: its conditions exclude each other"
        case .dead: "rule \(id) can never decide anything"
        case .shadowed: "rule \(id) adds nothing to others"
        case .permitsWhatIsOpen:
            "permit \(id) lies outside every closed scope, and changes nothing"
        case .notDecided: "whether \(id) ever decides was not found out within the budget"
        }
    }
}

extension RuleFinding.Kind {
    var code: DiagnosticCode {
        switch self {
        case .neverMatches, .matchesOnlyTheUnknown, .dead: .dead
        case .shadowed: .shadowed
        case .permitsWhatIsOpen: .permitOutsideClosed
        case .notDecided: .undecided
        }
    }

    var reason: String {
        switch self {
        case .dead: "every request it matches is already refused by "
        case .shadowed: "every request it matches is decided the same by "
        case .neverMatches, .matchesOnlyTheUnknown, .permitsWhatIsOpen, .notDecided: "see "
        }
    }
}

extension PolicySet {
    /// `base.root-is-not-the-owner (10-baseline.yaml:11)`
    var places: [PolicyText: String] {
        Dictionary(
            statements.map { ($0.id, "\($0.id) (\($0.origin.file):\($0.origin.line))") },
            uniquingKeysWith: { $1 })
    }
}
