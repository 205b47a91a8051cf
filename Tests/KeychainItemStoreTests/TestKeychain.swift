// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import Foundation
import GRDB
import KeychainAccessControl
import KeychainModel
import KeychainSecrets

@testable import KeychainItemStore

/// A keychain in a folder of its own, made and opened by the store itself, with a password whose
/// derivation is cheap.
final class TestKeychain: Sendable {
    enum State { case unlocked, locked, beforeFirstUnlock }

    static let password = "correct horse"
    static let owner = KeychainOwner(user: 4711, account: "zoë")
    static let cost = PasswordCostChoice.fixed(passes: 1, memoryKiB: 8)
    static let group = "exe:/usr/bin/mail"

    let folder: String
    let file: KeychainFile
    let deviceKey = SealingKey.random()
    let deviceSecret = HeldSecret(SecretBytes(random: 32))
    private let unlocked: UnlockedKeys
    private let always: KeyBundle

    var path: String { folder + "/login.keychain" }

    init(password: String? = TestKeychain.password, provisional: Bool = false) throws {
        folder = try Self.newFolder()
        let path = folder + "/login.keychain"
        try KeychainFile.create(
            at: path, owner: Self.owner, deviceKey: deviceKey,
            password: password.map { HeldSecret(secret($0)) }, deviceSecret: deviceSecret,
            provisional: provisional, cost: Self.cost)
        file = try KeychainFile.open(at: path, owner: Self.owner)
        always = try file.alwaysKeys(deviceKey: deviceKey)
        if let password {
            unlocked = try file.unlock(
                password: secret(password), deviceSecret: deviceSecret)
        } else {
            unlocked = try file.unlock(deviceKey: deviceKey)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static func newFolder() throws -> String {
        let folder = NSTemporaryDirectory() + "keychain-store-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    func keys(_ state: State = .unlocked) -> ClassKeys {
        switch state {
        case .unlocked:
            ClassKeys(
                always: always.copy(), afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
                whileUnlocked: unlocked.whileUnlocked.copy())
        case .locked:
            ClassKeys(
                always: always.copy(), afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
                whileUnlocked: nil)
        case .beforeFirstUnlock:
            ClassKeys(always: always.copy(), afterFirstUnlock: nil, whileUnlocked: nil)
        }
    }

    // MARK: Verbs, each with a real judgement

    @discardableResult
    func add(
        _ item: NewItem, _ text: String? = "s3cret", group: String = TestKeychain.group,
        state: State = .unlocked, trusting list: TrustList? = nil
    ) throws -> Item {
        let rights = item.accessControl ?? .plain(item.accessible)
        let new = SealedItem.new(item, in: group, rights, trusting: list)
        guard let grant = grant(.encrypt, new) else { throw KeychainStoreError.notGranted }
        return try file.add(
            new, text.map { HeldSecret(secret($0)) }, grant, keys: keys(state)
        ).found
    }

    func find(
        _ query: ItemQuery, groups: [String] = [TestKeychain.group],
        state: State = .unlocked
    ) throws -> [SealedItem] {
        try file.find(query, groups: groups, keys: keys(state))
    }

    func open(_ item: SealedItem, state: State = .unlocked) throws -> String? {
        guard let grant = grant(.decrypt, item) else { throw KeychainStoreError.notGranted }
        return try file.open(item, grant, keys: keys(state)).secret.map { text(of: $0) }
    }

    @discardableResult
    func update(
        _ query: ItemQuery, _ change: ItemChange, _ text: String? = nil,
        groups: [String] = [TestKeychain.group]
    ) throws -> Int {
        let found = try find(query, groups: groups)
        return try file.update(
            found.map(\.meant), change, text.map { HeldSecret(secret($0)) }, keys: keys()
        ) { grant(.decrypt, $0) }
    }

    @discardableResult
    func delete(
        _ query: ItemQuery, groups: [String] = [TestKeychain.group],
        state: State = .unlocked, mayDeleteUnread: Bool = true
    ) throws -> Int {
        try file.delete(
            query, groups: groups, keys: keys(state), mayDeleteUnread: mayDeleteUnread
        ) { grant(.delete, $0) }
    }

    // MARK: The file, as a program without the keys reaches it

    func tamper(_ sql: String, _ arguments: StatementArguments = []) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: sql, arguments: arguments) }
        try queue.close()
    }

    /// Another process that is writing, and goes on until its connection is closed.
    func writer() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return queue
    }

    func rows(_ sql: String) throws -> [Row] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try Row.fetchAll($0, sql: sql) }
    }
}

/// What the judge gives to a caller that has proven everything on an open keychain.
func grant(_ operation: ItemOperation, _ item: SealedItem) -> Grant? {
    let request = AccessRequest(
        AccessRequest.Circumstances(
            operation, as: .readSecret, callerGroups: [item.accessGroup],
            keychain: AccessRequest.Keychain(
                isUnlocked: true, wasUnlockedSinceBoot: true, isPasscodeSet: true),
            mayAsk: true, provable: [.factor(.presence), .factor(.passcode)]),
        on: AccessRequest.Item(
            reference: item.reference, accessGroup: item.accessGroup,
            accessControl: item.accessControl))
    let proven = Evidence().adding(.factor(.passcode))
    guard case .allow(let grant) = Judge().judge(request, proven) else {
        return nil
    }
    return grant
}

/// The same where the judge must say yes.
func given(_ operation: ItemOperation, _ item: SealedItem) throws -> Grant {
    guard let grant = grant(operation, item) else { throw KeychainStoreError.notGranted }
    return grant
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

func text(of secret: HeldSecret) -> String {
    String(decoding: secret.bytes.releasedFromLockedMemory(), as: UTF8.self)
}

func generic(
    _ service: String = "mail", _ account: String = "zoe", label: String? = nil,
    accessible: Accessibility = .whenUnlocked
) -> NewItem {
    var item = NewItem(.genericPassword)
    item.attributes = [.service: .string(service), .account: .string(account)]
    if let label { item.attributes[.label] = .string(label) }
    item.accessible = accessible
    return item
}

func internet(_ server: String, _ account: String, port: Int64? = nil) -> NewItem {
    var item = NewItem(.internetPassword)
    item.attributes = [.server: .string(server), .account: .string(account)]
    if let port { item.attributes[.port] = .number(port) }
    return item
}

func query(
    _ itemClass: ItemClass = .genericPassword, _ attributes: Attributes = [:], limit: Int? = nil
) -> ItemQuery {
    var query = ItemQuery(itemClass)
    query.attributes = attributes
    query.limit = limit
    return query
}

extension SealedItem {
    /// Its account, which tests tell items by.
    var account: String {
        guard case .string(let account)? = attributes[.account] else { return "" }
        return account
    }
}

extension ClassKeys {
    borrowing func bytes(_ accessible: Accessibility) -> [UInt8]? {
        withClassKey(accessible) { SecretBytes(copying: $0).releasedFromLockedMemory() }
    }

    borrowing func bytes(_ family: IndexFamily) -> [UInt8]? {
        withIndexKey(family) { SecretBytes(copying: $0).releasedFromLockedMemory() }
    }
}
