// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import Secrets

/// An answer on its way out, in parts where it is long. Nothing leaves before the asker has been
/// looked at once more and what he is given has been recorded.
struct Delivery: ~Copyable {
    /// Items of one part.
    static let mostItems = 256
    /// Bytes of secrets of one part, but for the last item in it.
    private static let mostBytes = 256 * 1024
    /// Bytes of secrets of one answer.
    private static let mostBytesInAll = 64 * 1024 * 1024

    private let evidence: Evidence
    private let asker: any Asker
    private let memory: MemoryBudget
    private let audit: AuditLog?
    private var part = Answer()
    private var partBytes = 0
    private var allBytes = 0
    private var shares: [MemoryBudget.Share] = []
    private var isRecorded = false
    private(set) var count = 0

    init(_ evidence: Evidence, _ asker: any Asker, _ memory: MemoryBudget, _ audit: AuditLog?) {
        self.evidence = evidence
        self.asker = asker
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

    mutating func add(
        _ item: AnsweredItem, _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) {
        let bytes = item.secret?.bytes.count ?? 0
        allBytes += bytes
        guard allBytes <= Self.mostBytesInAll else { throw .dataTooLarge }
        partBytes += bytes
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
        partBytes = 0
        shares.removeAll()
    }

    private mutating func release() throws(Refusal) {
        guard asker.isUnchanged() else { throw .notEntitled }
        guard !isRecorded else { return }
        audit?.record(.copyMatching, asker, evidence, nil)
        isRecorded = true
    }
}
