// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// An answer on its way out, in parts where it is long. Nothing leaves before the asker and the
/// unlock have been looked at once more and what is given has been recorded.
struct Delivery: ~Copyable {
    /// Items of one part.
    static let mostItems = 256
    /// Bytes of one part, attributes and secrets, but for the last item in it.
    static let mostBytes = 256 * 1024
    /// Bytes of secrets of one answer.
    private static let mostBytesInAll = 64 * 1024 * 1024

    private let evidence: Evidence
    private let asker: any Asker
    private let unlock: UnlockWatch
    private let memory: MemoryBudget
    private let audit: AuditLog?
    private var part = Answer()
    /// When the keys of its items are there.
    private var availabilities: Set<Accessibility.Availability> = []
    private var partBytes = 0
    private var allBytes = 0
    private var shares: [any AnyObject & Sendable] = []
    private var isRecorded = false
    private(set) var count = 0

    init(
        _ evidence: Evidence, _ asker: any Asker, _ unlock: UnlockWatch, _ memory: MemoryBudget,
        _ audit: AuditLog?
    ) {
        self.evidence = evidence
        self.asker = asker
        self.unlock = unlock
        self.memory = memory
        self.audit = audit
    }

    /// Before a secret of that size is opened. What lies here already goes first where there is not
    /// room for both.
    mutating func makeRoom(
        for bytes: Int, _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard bytes > MemoryBudget.free else { return }
        let user = asker.caller.user
        if let share = try? memory.take(bytes, for: user, patience: 0) {
            shares.append(share)
            return
        }
        try send(emit)
        if let share = try memory.take(bytes, for: user) { shares.append(share) }
    }

    /// Before an item is opened: the part before it may have taken its reader long.
    func begin(_ item: SealedItem) throws(Refusal) {
        guard count > 0, part.items.isEmpty else { return }
        try unlock.check(item.availability)
    }

    mutating func add(
        _ item: AnsweredItem, of found: SealedItem, _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) {
        let secretBytes = item.secret?.bytes.count ?? 0
        allBytes += secretBytes
        guard allBytes <= Self.mostBytesInAll else { throw .dataTooLarge }
        partBytes += secretBytes
        if !item.item.attributes.isEmpty {
            partBytes += found.attributeBytes
            if let room = found.room { shares.append(room) }
        }
        availabilities.insert(found.availability)
        count += 1
        part.items.append(item)
        if part.items.count == Self.mostItems || partBytes >= Self.mostBytes { try send(emit) }
    }

    /// The last part. One that holds much memory is sent from here, where the memory is counted.
    consuming func finish(
        _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        guard count > 0 else { throw .notFound }
        if shares.isEmpty {
            try release()
        } else {
            try send(emit)
        }
        return part
    }

    private mutating func send(
        _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard !part.items.isEmpty else { return }
        try release()
        try emit(part)
        part.items.removeAll(keepingCapacity: true)
        availabilities = []
        partBytes = 0
        shares.removeAll()
    }

    private mutating func release() throws(Refusal) {
        guard asker.isUnchanged() else { throw .notEntitled }
        for availability in availabilities { try unlock.check(availability) }
        guard !isRecorded else { return }
        audit?.record(.copyMatching, asker, evidence, nil)
        isRecorded = true
    }
}

extension SealedItem {
    /// When the keys of the item are there.
    var availability: Accessibility.Availability { accessControl.protection.availability }
}
