// SPDX-License-Identifier: Apache-2.0
internal import KeychainDaemonClient
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// Adds what a source has. Each item bears the import's number (`kSecAttrType`), by which
/// all of them can be taken back, wherever it was interrupted.
struct ImportRun {
    let number: Int64
    private let keychain: Keychain
    /// A step for each item of which it is known what became of it.
    private let progress: ProgressBar
    private(set) var added = 0
    /// There with the same secret.
    private(set) var same = 0
    /// There with another secret, or one that can't be read now: these stay as they are.
    private(set) var different: [String] = []
    /// There with the same secret, and described otherwise than in the source.
    private(set) var unlike: [String] = []

    /// Threads that add at once, each on a connection: a program has 24 of its user's 32, for all
    /// processes that run it, and keeps 4 open between requests. More threads would leave none to
    /// other commands, and open most of theirs anew for each lot.
    private static let threads = 8
    private static let mostWaiting = 128
    private static let mostWaitingBytes = 1024 * 1024

    private var isFirst = true
    /// Of the class `attributed`, what is in the keychain.
    private var attributed: AttributedItems
    private var waiting: [ImportedItem] = []
    private var waitingKeys: Set<ImportKey> = []
    private var waitingBytes = 0

    init(
        number: Int64, into keychain: Keychain, _ plan: ImportPlan, _ progress: ProgressBar
    ) {
        self.number = number
        self.keychain = keychain
        attributed = plan.attributed
        self.progress = progress
    }

    /// Adds it, or keeps it for a moment to be added with others: `finish` adds the last ones.
    ///
    /// Several are added at once, because those share a commit, and waiting for the disk is most of
    /// what one costs. The first goes alone and may ask the user, whose answer serves the others.
    mutating func add(_ found: ImportedItem) throws(CommandFailure) {
        guard !isFirst else {
            isFirst = false
            return try addInTurn(found)
        }
        let key = ImportKey(found.itemClass, found.attributes)
        let isFull =
            waiting.count == Self.mostWaiting
            || waitingBytes + found.secret.bytes.count > Self.mostWaitingBytes
        // Of two of one name the first counts: the second is compared with what was added.
        if isFull || waitingKeys.contains(key) || isWaiting(found) { try finish() }
        waiting.append(found)
        waitingKeys.insert(key)
        waitingBytes += found.secret.bytes.count
    }

    private func isWaiting(_ found: ImportedItem) -> Bool {
        found.itemClass == .attributed
            && waiting.contains { $0.attributes.isSameItem(as: found.attributes) }
    }

    mutating func finish() throws(CommandFailure) {
        let items = waiting
        waiting = []
        waitingKeys = []
        waitingBytes = 0
        let adding = AddingOne(number: number, keychain: keychain)
        let attributed = attributed
        let outcomes = Concurrently.map(items, threads: Self.threads) {
            adding.add($0, attributed, .fail)
        }
        for (item, outcome) in zip(items, outcomes) { try? take(outcome, item) }
        // Those that need the user, one after the other.
        for (item, outcome) in zip(items, outcomes) {
            if case .failed = outcome { try addInTurn(item) }
        }
    }

    private mutating func addInTurn(_ found: ImportedItem) throws(CommandFailure) {
        let adding = AddingOne(number: number, keychain: keychain)
        try take(adding.add(found, attributed, .allow), found)
    }

    private mutating func take(
        _ outcome: AddingOne.Outcome, _ found: ImportedItem
    ) throws(CommandFailure) {
        let name = "\(found.name) (\(found.place))"
        switch outcome {
        case .added(let reference):
            added += 1
            if found.itemClass == .attributed { attributed.insert(found.attributes, reference) }
        case .same: same += 1
        case .unlike:
            same += 1
            unlike.append(name)
        case .different: different.append(name)
        case .failed(let failure): throw failure
        }
        progress.step()
    }

    /// What became of the items of an import that was taken back.
    struct Undone {
        var count = 0
        /// Those that were changed since they were made, and stay.
        var changed: [String] = []
    }

    /// References of one request.
    private static let mostReferences = 1000

    static func undo(_ number: Int64, in keychain: Keychain) throws(CommandFailure) -> Undone {
        var undone = Undone()
        for itemClass in classes {
            var query = query(itemClass, number, in: keychain)
            query.returnFields = [.attributes, .persistentReference]
            let items = try keychain.items(query, to: undoing)
            undone.changed += items.filter(\.isChanged).map { ItemName($0).text }
            let unchanged = items.filter { !$0.isChanged }.map(\.reference)
            for start in stride(from: 0, to: unchanged.count, by: mostReferences) {
                query.references = Array(unchanged[start...].prefix(mostReferences))
                undone.count += try delete(query, in: keychain)
            }
        }
        return undone
    }

    private static let undoing = "take the import back"
    private static let classes = [ItemClass.genericPassword, .internetPassword, .attributed]

    private static func delete(
        _ query: ItemQuery, in keychain: Keychain
    ) throws(CommandFailure) -> Int {
        do throws(CommandFailure) { return try keychain.ask(Delete(query), to: undoing) } catch {
            guard error.isNoSuchItem else { throw error }
            return 0
        }
    }

    /// Whether an item bears the number, of whatever import or program.
    static func isTaken(_ number: Int64, in keychain: Keychain) throws(CommandFailure) -> Bool {
        for itemClass in classes {
            var query = query(itemClass, number, in: keychain)
            query.returnFields = .persistentReference
            query.limit = 1
            if try !keychain.items(query, to: ImportOrigin.task).isEmpty { return true }
        }
        return false
    }

    private static func query(
        _ itemClass: ItemClass, _ number: Int64, in keychain: Keychain
    ) -> ItemQuery {
        var query = ItemQuery(itemClass)
        query.keychain = keychain.name
        query.attributes[.type] = .number(number)
        query.synchronizable = .any
        query.limit = nil
        return query
    }
}

/// How one item is added, by whatever thread.
private struct AddingOne: Sendable {
    enum Outcome: Sendable {
        case added(ItemReference)
        /// There with the same secret.
        case same
        /// The same, and described otherwise.
        case unlike
        /// There with another secret, or one that can't be read now.
        case different
        case failed(CommandFailure)
    }

    let number: Int64
    let keychain: Keychain

    func add(
        _ found: ImportedItem, _ attributed: AttributedItems, _ ui: ItemQuery.AuthenticationUI
    ) -> Outcome {
        if found.itemClass == .attributed { return addAttributed(found, attributed, ui) }
        var item = NewItem(found.itemClass)
        item.keychain = keychain.name
        item.attributes = found.attributes
        item.attributes[.type] = .number(number)
        item.authenticationUI = ui
        do throws(CommandFailure) {
            let added = try keychain.ask(
                Add(item, secret: found.secret, returning: .persistentReference),
                to: ImportOrigin.task)
            return .added(added.reference)
        } catch {
            guard error.code == .exists else { return .failed(error) }
            return switch sameItem(found).map({ $0.describes(found) }) {
            case true?: .same
            case false?: .unlike
            case nil: .different
            }
        }
    }

    /// With the same secret. The user is not asked for that.
    private func sameItem(_ found: ImportedItem) -> Item? {
        var query = ItemQuery(found.itemClass)
        query.keychain = keychain.name
        for name in [AttributeName.service, .account, .server, .networkProtocol, .port, .path] {
            query.attributes[name] = found.attributes[name]
        }
        query.returnFields = [.data, .attributes]
        query.authenticationUI = .fail
        query.limit = nil
        guard let items = try? keychain.items(query, to: ImportOrigin.task) else { return nil }
        // What the source does not say the query leaves open: another account's item may have the
        // same secret.
        let key = ImportKey(found.itemClass, found.attributes)
        return items.first {
            ImportKey(found.itemClass, $0.attributes) == key
                && $0.secret?.bytes.matches(found.secret.bytes) == true
        }
    }
}

/// Attributed items: two of them may be the same, so that the keychain refuses none.
extension AddingOne {
    fileprivate func addAttributed(
        _ found: ImportedItem, _ attributed: AttributedItems, _ ui: ItemQuery.AuthenticationUI
    ) -> Outcome {
        do throws(CommandFailure) {
            if let there = attributed.find(found.attributes) {
                guard let there, let item = try read(there, ui) else { return .different }
                guard item.secret?.bytes.matches(found.secret.bytes) == true else {
                    return .different
                }
                return item.describes(found) ? .same : .unlike
            }
            let added = try keychain.ask(
                Add(new(found, ui), secret: found.secret, returning: .persistentReference),
                to: ImportOrigin.task)
            let item = try read(added.reference, ui)
            guard item?.secret?.bytes.matches(found.secret.bytes) == true else {
                throw CommandFailure(
                    .failure, name: "notStored",
                    "could not import: \(PlainText.line(found.name)) can't be read back")
            }
            return .added(added.reference)
        } catch { return .failed(error) }
    }

    private func new(_ found: ImportedItem, _ ui: ItemQuery.AuthenticationUI) -> NewItem {
        var item = NewItem(.attributed)
        item.keychain = keychain.name
        item.attributes = found.attributes
        item.attributes[.type] = .number(number)
        let changed = found.modified ?? WallClock.secondsSince2001.rounded(.down)
        item.attributes[.modificationDate] = .date(changed)
        item.attributes[.creator] = .number(Int64(changed))
        // In the own process no rule lets this program into another's group.
        item.accessGroup = DaemonSocket.ofThisProcess == nil ? nil : found.group
        item.accessible = .whenUnlocked
        item.trusted = []
        item.authenticationUI = ui
        return item
    }

    private func read(
        _ reference: ItemReference, _ ui: ItemQuery.AuthenticationUI
    ) throws(CommandFailure) -> Item? {
        var query = ItemQuery(.attributed)
        query.keychain = keychain.name
        query.references = [reference]
        query.returnFields = [.data, .attributes]
        query.authenticationUI = ui
        return try keychain.items(query, to: ImportOrigin.task).first
    }
}

extension ImportedItem {
    /// That of the application whose secret from the desktop's portal it is: the application asks the
    /// portal, and no user could let it in. Then that of the program which such items are known to be
    /// of. Of other items the programs are not known, and each is let in by its user.
    fileprivate var group: String {
        PortalApplication(ofItem: attributes, secretBytes: secret.bytes.count)?.identifier
            ?? ImportOwners().group(of: attributes) ?? ImportedItems.group
    }

    /// Seconds since 2001, as the source has it; none in the future.
    fileprivate var modified: Double? {
        guard case .date(let date)? = attributes[.modificationDate] else { return nil }
        return min(date, WallClock.secondsSince2001.rounded(.down))
    }
}

extension Item {
    /// Since it was made: each change has a later date. An attributed one says which date it was
    /// brought with.
    var isChanged: Bool {
        guard reference.itemClass == .attributed else {
            return attributes[.modificationDate] != attributes[.creationDate]
        }
        guard case .date(let changed)? = attributes[.modificationDate],
            case .number(let brought)? = attributes[.creator]
        else { return true }
        return changed != Double(brought)
    }

    /// Whether it has what the source says of it besides its name.
    fileprivate func describes(_ found: ImportedItem) -> Bool {
        [AttributeName.label, .comment, .itemDescription].allSatisfy { name in
            guard let said = found.attributes[name] else { return true }
            return attributes[name]?.comparedBytes == said.comparedBytes
        }
    }
}
