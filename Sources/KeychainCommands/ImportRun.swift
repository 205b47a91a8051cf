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
            if isThere(found) {
                same += 1
            } else {
                different.append("\(found.name) (line \(found.line))")
            }
        }
    }

    /// With the same secret. The user is not asked for that.
    private func isThere(_ found: ImportedItem) -> Bool {
        var query = ItemQuery(found.itemClass)
        query.keychain = keychain.name
        for name in [AttributeName.service, .account, .server, .networkProtocol, .port, .path] {
            query.attributes[name] = found.attributes[name]
        }
        query.returnFields = [.data, .attributes]
        query.authenticationUI = .fail
        query.limit = nil
        guard let items = try? keychain.items(query, to: ImportOrigin.task) else { return false }
        // What the source does not say the query leaves open: another account's item may have the
        // same secret.
        let key = ImportKey(found.itemClass, found.attributes)
        return items.contains {
            ImportKey(found.itemClass, $0.attributes) == key
                && $0.secret?.bytes.matches(found.secret.bytes) == true
        }
    }

    /// How many items of that import there were.
    static func undo(_ number: Int64, in keychain: Keychain) throws(CommandFailure) -> Int {
        var count = 0
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            var query = ItemQuery(itemClass)
            query.keychain = keychain.name
            query.attributes[.type] = .number(number)
            query.limit = nil
            do throws(CommandFailure) {
                count += try keychain.ask(Delete(query), to: "take the import back")
            } catch { guard error.isNoSuchItem else { throw error } }
        }
        return count
    }
}
