// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

extension CompiledPolicy {
    /// The access group for the program's new items, the first by name; nil for the program's own
    /// group.
    public func home(of subject: PolicyFacts) -> PolicyText? {
        guard hasHomes else { return nil }
        let literal = PolicyImage.symbolHead(.accessGroup, .literal)
        return (0..<image.count(.symbols))
            .filter { image.word(.symbols, $0) == literal }
            .map { image.text(.symbols, $0, 1) }
            .filter { isHome($0, of: subject) }
            .min()
    }

    private func isHome(_ group: PolicyText, of subject: PolicyFacts) -> Bool {
        var facts = subject
        facts[.accessGroup] = .known([group])
        facts[.member] = .known(false)
        let request = admit(PolicyRequest(.add, facts: facts, day: .max))
        let words = request.facts.words
        return words.isSpilled
            ? isHome(request, words.spilled.span) : isHome(request, words.inline.span)
    }

    private func isHome(_ request: AdmittedRequest, _ numbers: Span<UInt32>) -> Bool {
        guard let joining else { return false }
        var finder = HomeFinder(image: image)
        let view = CaseView(request.facts, request.operation)
        traversal.visit(node: joining, view.granting, image.words.span, numbers, &finder)
        return finder.found
    }
}

/// Whether any membership of a home matches.
private struct HomeFinder: CandidateSink {
    let image: PolicyImage
    var found = false

    func wants(_ head: EntryHead) -> Bool { !found && image.isHome(Int(head.statement)) }

    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) { found = true }
}
