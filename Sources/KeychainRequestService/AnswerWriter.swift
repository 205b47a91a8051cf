// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

/// An answer on its way out, in parts where it is long. No part leaves before the client, and the
/// unlock that its items were opened with, have been looked at once more.
final class AnswerWriter {
    /// Items of one part.
    static let mostItems = 256
    /// Bytes of one part, attributes and secrets, but for the last item in it.
    static let mostBytes = 256 * 1024
    /// Bytes of secrets of one answer.
    private static let mostBytesInAll = 64 * 1024 * 1024

    private let limit: Int?
    private let prompts: UserPrompts
    private let memory: MemoryBudget
    private let emit: ([Item]) throws(RequestError) -> Void
    private var part: [Item] = []
    /// By which the items of this part are opened.
    private var access: Authorization?
    private var unlock: UnlockWatch?
    /// When the keys of its items are there.
    private var availabilities: [Accessibility.Availability] = []
    private var partBytes = 0
    private var allBytes = 0
    private var shares: [any AnyObject & Sendable] = []
    private(set) var count = 0

    /// How many items are still wanted; nil is all.
    var rest: Int? { limit.map { $0 - count } }
    var isFull: Bool { rest == 0 }

    /// `emit` takes the parts but the last, which `finish` gives back.
    init(
        limit: Int?, _ prompts: UserPrompts, _ memory: MemoryBudget,
        _ emit: @escaping ([Item]) throws(RequestError) -> Void
    ) {
        self.limit = limit
        self.prompts = prompts
        self.memory = memory
        self.emit = emit
    }

    /// Before an item is opened, with a secret of that size. The part before it may have taken its
    /// reader long; and what lies here already goes first where there is not room for both.
    func begin(_ item: SealedItem, bytes: Int, _ access: Authorization) throws(RequestError) {
        if self.access !== access {
            // What lies here was opened with another unlock.
            try send()
            self.access = access
            unlock = try access.keys.unlock
        }
        if count > 0, part.isEmpty { try unlock?.check(item.availability) }
        guard bytes > MemoryBudget.free else { return }
        let user = prompts.client.caller.user
        if let share = try? memory.take(bytes, for: user, patience: .zero) {
            shares.append(share)
            return
        }
        try send()
        if let share = try memory.take(bytes, for: user) { shares.append(share) }
    }

    func add(_ item: Item, of found: SealedItem) throws(RequestError) {
        let secretBytes = item.secret?.bytes.count ?? 0
        allBytes += secretBytes
        guard allBytes <= Self.mostBytesInAll else { throw .invalid(.dataTooLarge) }
        partBytes += secretBytes
        if !item.attributes.isEmpty {
            partBytes += found.attributeBytes
            if let room = found.room { shares.append(room) }
        }
        if !availabilities.contains(found.availability) {
            availabilities.append(found.availability)
        }
        count += 1
        part.append(item)
        if part.count == Self.mostItems || partBytes >= Self.mostBytes { try send() }
    }

    /// The last part. One that holds much memory is sent from here, where the memory is counted.
    func finish() throws(RequestError) -> [Item] {
        guard count > 0 else { throw .state(.notFound) }
        if shares.isEmpty { try check() } else { try send() }
        return part
    }

    private func send() throws(RequestError) {
        guard !part.isEmpty else { return }
        try check()
        try emit(part)
        part.removeAll(keepingCapacity: true)
        availabilities = []
        partBytes = 0
        shares.removeAll()
    }

    private func check() throws(RequestError) {
        try prompts.checkClient()
        for availability in availabilities { try unlock?.check(availability) }
    }
}

extension SealedItem {
    /// When the keys of the item are there.
    var availability: Accessibility.Availability { accessControl.protection.availability }
}
