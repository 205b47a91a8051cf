// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// A policy made for deciding: the same decisions as `ReferenceEvaluator`, at a cost that hardly
/// depends on the number of rules. Immutable; a reload makes another and swaps it in.
public struct CompiledPolicy: Sendable {
    let image: PolicyImage
    let traversal: IndexTraversal
    /// What it takes to decide by it.
    public let asked: AskedFacts
    /// The roots of the indices; nil where nothing is filed for the purpose.
    let deciding: UInt32?
    let permitting: UInt32?
    let sharing: UInt32?
    let joining: UInt32?

    /// Of an image that has been made by the compiler, or inspected.
    package init(_ image: PolicyImage) {
        self.image = image
        traversal = IndexTraversal(image)
        asked = AskedFacts(image)
        countsUnprompted = image.countsUnprompted
        deciding = image.root(.decide)
        permitting = image.root(.permit)
        sharing = image.root(.share)
        joining = image.root(.join)
    }

    /// How many rules, scopes and memberships there are.
    public var statementCount: Int { image.count(.statements) }

    /// Whether any of them is permissive, or was until some day.
    public var hasPermissiveRules: Bool {
        (0..<statementCount).contains { image.word(.statements, $0) & Self.permissive != 0 }
    }

    /// Whether any rule counts requests.
    public var hasLimits: Bool { image.root(.limit) != nil }

    /// Whether any rule counts requests that show the user no question.
    public let countsUnprompted: Bool

    /// What the policy takes in memory and in a snapshot.
    public var byteCount: Int { image.words.count * 4 }

    /// How many candidates one operation on one item can meet at most, whichever request it is,
    /// unless a fact could not be established: then all statements may have to be looked at.
    public var mostCandidates: Int {
        IndexPurpose.allCases.filter { $0 != .limit }.reduce(0) {
            $0 + Int(image.word(.summary, $1.rawValue * IndexPurpose.recordLength + 1))
        }
    }

    /// The view of one case, with the memberships that groups give.
    func view(
        _ facts: borrowing AdmittedFacts, _ operation: PolicyOperation, _ words: Span<UInt32>,
        _ numbers: Span<UInt32>
    ) -> CaseView {
        var view = CaseView(facts, operation)
        guard let joining, !view.isMember else { return view }
        var finder = MembershipFinder()
        traversal.visit(node: joining, view.granting, words, numbers, &finder)
        if finder.found { view.becomeMember() }
        return view
    }
}

extension PolicyImage {
    /// The root node of the index; nil when it is empty.
    func root(_ purpose: IndexPurpose) -> UInt32? {
        let record = purpose.rawValue * IndexPurpose.recordLength
        return word(.summary, record + 2) == 0 ? nil : word(.summary, record)
    }
}

/// Whether any membership matches.
private struct MembershipFinder: CandidateSink {
    var found = false
    func wants(_ head: EntryHead) -> Bool { !found }
    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) { found = true }
}

extension PolicyImage {
    /// Whether a limit is there that does not want `prompted` to be true.
    fileprivate var countsUnprompted: Bool {
        (0..<count(.statements)).contains { statement in
            let kind = word(.statements, statement) & ~CompiledPolicy.permissive
            return kind == StatementKind.limit.rawValue && !wantsPrompt(statement)
        }
    }

    /// Whether one of the statement's tests, which stand before its exceptions, is that of `prompted`
    /// for true alone.
    private func wantsPrompt(_ statement: Int) -> Bool {
        var place = start(.conditions) + Int(word(.statements, statement, 3))
        let tests = words[place]
        place += 2
        for _ in 0..<tests {
            let head = words[place]
            let (isList, count) = (head & 1 == 0, Int(head >> 8))
            if isList, count == 1, words[place + 1] == Dimension.fact(.prompted, true) {
                return true
            }
            place += 1 + count * (isList ? 1 : 2)
        }
        return false
    }
}
