// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel
internal import KeychainModel

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
    /// Whether any group is the home of its members' new items.
    package let hasHomes: Bool

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
        hasHomes = (0..<image.count(.statements)).contains { image.isHome($0) }
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
    /// Whether the statement is a membership of a group that is its members' home.
    func isHome(_ statement: Int) -> Bool {
        word(.statements, statement) == StatementKind.membership.rawValue
            && word(.statements, statement, 1) != 0
    }

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
        // Safe: the image was inspected, its conditions lie within it.
        let tests = words[place]
        place += 2
        for _ in 0..<tests {
            // Safe: as above.
            let head = words[place]
            let (isList, count) = (head & 1 == 0, Int(head >> 8))
            // Safe: as above.
            if isList, count == 1, words[place + 1] == Dimension.fact(.prompted, true) {
                return true
            }
            place += 1 + count * (isList ? 1 : 2)
        }
        return false
    }
}

/// Why bytes are no snapshot to decide by. The sources are compiled again then.
public enum PolicySnapshotError: Error, Sendable, Hashable {
    case notASnapshot
    case otherVersion(UInt32)
    /// Cut off, or with something behind its end.
    case wrongLength
    case tooLong(limit: Int)
    /// The checksum doesn't fit.
    case damaged
    /// A part of it that makes no sense, by name.
    case malformed(String)
}

extension CompiledPolicy {
    /// Far above what the most rules take.
    public static let mostSnapshotBytes = 64 << 20

    /// The policy as bytes, little-endian words: what the daemon loads.
    public var snapshot: [UInt8] { Self.bytes(of: image.words) }

    static func bytes(of words: [UInt32]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * words.count)
        for word in words {
            for shift: UInt32 in [0, 8, 16, 24] {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    /// Tells one compiled policy from another.
    public var checksum: UInt64 { image.checksum }

    /// Takes a snapshot of this version, whole and undamaged; everything that deciding follows in
    /// it is checked here once.
    public init(snapshot: [UInt8]) throws(PolicySnapshotError) {
        let image = try Self.image(snapshot)
        try ImageInspection(image).inspect()
        self.init(image)
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        (0..<4).reduce(into: 0) { word, byte in
            // Safe: callers ask for words that are whole.
            word |= UInt32(bytes[place + byte]) << UInt32(8 * byte)
        }
    }

    private static func image(_ bytes: [UInt8]) throws(PolicySnapshotError) -> PolicyImage {
        guard bytes.count <= mostSnapshotBytes else { throw .tooLong(limit: mostSnapshotBytes) }
        let words = (0..<bytes.count / 4).map { Self.word(bytes, 4 * $0) }
        guard words.starts(with: PolicyImage.magic), words.count > 2 else { throw .notASnapshot }
        // Safe: there are more than two words.
        guard words[2] == PolicyImage.version else { throw .otherVersion(words[2]) }
        guard bytes.count % 4 == 0, words.count >= PolicyImage.directoryLength,
            // Safe: there are as many words as the directory has.
            Int(words[3]) == words.count
        else { throw .wrongLength }
        let image = PolicyImage(words: words)
        guard PolicyImage.checksum(words) == image.checksum else { throw .damaged }
        return image
    }
}

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
