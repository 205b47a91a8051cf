// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel
internal import KeychainModel

/// A policy compiled for deciding: it decides like `ReferenceEvaluator`, at a cost that hardly
/// depends on the number of rules. Immutable; a reload makes another and swaps it in.
public struct CompiledPolicy: Sendable {
    let image: PolicyImage
    let traversal: IndexTraversal
    /// The facts that its decisions need.
    public let asked: AskedFacts
    /// The roots of the indices; nil for an empty index.
    let deciding: UInt32?
    let permitting: UInt32?
    let sharing: UInt32?
    let joining: UInt32?
    /// Whether any group is the home of its members' new items.
    package let hasHomes: Bool

    /// From an image that the compiler made, or that was inspected.
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

    /// The number of rules, scopes and memberships.
    public var statementCount: Int { image.count(.statements) }

    /// Whether any rule is permissive, or was until some day.
    public var hasPermissiveRules: Bool {
        (0..<statementCount).contains { image.word(.statements, $0) & Self.permissive != 0 }
    }

    /// Whether any rule counts requests.
    public var hasLimits: Bool { image.root(.limit) != nil }

    /// Whether any limit counts requests that ask the user nothing.
    public let countsUnprompted: Bool

    /// The policy's size in memory and in a snapshot, in bytes.
    public var byteCount: Int { image.words.count * 4 }

    /// The most candidates that one operation on one item can meet, for any request without unknown
    /// facts: with one, all statements may have to be checked.
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

    /// Whether a limit exists that does not require `prompted` to be true.
    fileprivate var countsUnprompted: Bool {
        (0..<count(.statements)).contains { statement in
            let kind = word(.statements, statement) & ~CompiledPolicy.permissive
            return kind == StatementKind.limit.rawValue && !wantsPrompt(statement)
        }
    }

    /// Whether one of the statement's tests, which come before its exceptions, requires `prompted`
    /// to be true.
    private func wantsPrompt(_ statement: Int) -> Bool {
        var place = start(.conditions) + Int(word(.statements, statement, 3))
        // Safe: the image was inspected, so its conditions lie within it.
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

/// Why bytes are not a usable snapshot. The sources are then compiled again.
public enum PolicySnapshotError: Error, Sendable, Hashable {
    case notASnapshot
    case otherVersion(UInt32)
    /// Cut off, or with extra bytes at the end.
    case wrongLength
    case tooLong(limit: Int)
    /// The checksum does not match.
    case damaged
    /// An invalid part, by name.
    case malformed(String)
}

extension CompiledPolicy {
    /// Far more than the largest policy takes.
    public static let mostSnapshotBytes = 64 << 20

    /// The policy as bytes, little-endian words, which the daemon loads.
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

    /// A number that tells compiled policies apart.
    public var checksum: UInt64 { image.checksum }

    /// Loads an undamaged snapshot of this version; every reference that deciding follows is
    /// checked here once.
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

/// The access groups beside its own of which a caller may know items: a search must look into them.
/// Each item found there is decided on its own.
public struct VisibleGroups: Sendable, Equatable {
    /// Groups that a rule names.
    public var groups: [PolicyText] = []
    /// Whether a matching rule names groups by a pattern, so that any group may count.
    public var anyGroup = false

    public init() {}
    public var isEmpty: Bool { groups.isEmpty && !anyGroup }
}

extension CompiledPolicy {
    public var isEmpty: Bool { statementCount == 0 }

    /// The groups that shares and memberships let the subject know of, for some item. The policy
    /// must be made from `PolicySet.reachOnly`, which leaves out conditions on the item. With
    /// `byNameAlone`, as in the machine's keychain, only shares that name the group count.
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
                // Texts that match a pattern with stars inside can't be constructed here.
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
    /// Any other keychain; it makes no difference which.
    private static let another = PolicyText(KeychainName.login.description)
}
