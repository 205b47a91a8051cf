// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// Adds what a source has, item by item. Each bears the import's number (`kSecAttrType`), by which
/// all of them can be taken back, wherever it was interrupted.
struct ImportRun {
    let number: Int64
    private let keychain: Keychain
    private(set) var added = 0
    /// There with the same secret.
    private(set) var same = 0
    /// There with another secret, or one that can't be read now: these stay as they are.
    private(set) var different: [String] = []
    /// There with the same secret, and described otherwise than in the source.
    private(set) var unlike: [String] = []

    init(number: Int64, into keychain: Keychain) {
        self.number = number
        self.keychain = keychain
    }

    mutating func add(_ found: ImportedItem) throws(CommandFailure) {
        var item = NewItem(found.itemClass)
        item.keychain = keychain.name
        item.attributes = found.attributes
        item.attributes[.type] = .number(number)
        do throws(CommandFailure) {
            try keychain.ask(Add(item, secret: found.secret, returning: []), to: ImportOrigin.task)
            added += 1
        } catch {
            guard error.code == .exists else { throw error }
            let name = "\(found.name) (line \(found.line))"
            switch sameItem(found).map({ $0.describes(found) }) {
            case true?: same += 1
            case false?:
                same += 1
                unlike.append(name)
            case nil: different.append(name)
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
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
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
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
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

extension Item {
    /// Since it was made: each change has a later date.
    var isChanged: Bool { attributes[.modificationDate] != attributes[.creationDate] }

    /// Whether it has what the source says of it besides its name.
    fileprivate func describes(_ found: ImportedItem) -> Bool {
        [AttributeName.label, .comment, .itemDescription].allSatisfy { name in
            guard let said = found.attributes[name] else { return true }
            return attributes[name]?.comparedBytes == said.comparedBytes
        }
    }
}
