// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The statements that only one of two sets has in this form.
struct ChangedStatements {
    private struct Own {
        let meaning: Meaning
        let side: Int
        let id: PolicyText
        let fate: PolicyChange.Statement.Fate
    }

    private var all: [Own] = []
    /// For each set an evaluator that knows its groups' members.
    private let evaluators: [ReferenceEvaluator]

    /// `sets` has the statements of each of the two sets.
    init(
        _ sets: [[(meaning: Meaning, id: PolicyText)]], _ policies: [PolicySet],
        _ changed: Set<Meaning>
    ) {
        let ids = sets.map { Set($0.map(\.id)) }
        for (side, own) in sets.enumerated() {
            for (meaning, id) in own where changed.contains(meaning) {
                let fate: PolicyChange.Statement.Fate =
                    ids[1 - side].contains(id) ? .changed : side == 0 ? .gone : .new
                all.append(Own(meaning: meaning, side: side, id: id, fate: fate))
            }
        }
        evaluators = policies.map { ReferenceEvaluator(PolicySet(groups: $0.groups)) }
    }

    func ids(of meaning: Meaning) -> [PolicyText] {
        all.filter { $0.meaning == meaning }.map(\.id)
    }

    /// The statements that match the request.
    func meeting(_ request: PolicyRequest) -> [PolicyChange.Statement] {
        var seen: Set<PolicyText> = []
        return all.filter { $0.meaning.meets(request, evaluators[$0.side]) }
            .sorted { $0.id < $1.id }
            .filter { seen.insert($0.id).inserted }
            .map { PolicyChange.Statement(id: $0.id, fate: $0.fate) }
    }
}

extension Meaning {
    /// Whether it applies to the request, or to the export that it also is.
    fileprivate func meets(_ request: PolicyRequest, _ evaluator: ReferenceEvaluator) -> Bool {
        let cases = match.tellsMembers ? evaluator.cases(of: request) : request.cases
        return cases.contains { match.truth(for: $0.operation, $0.facts) >= kind.least }
    }
}
