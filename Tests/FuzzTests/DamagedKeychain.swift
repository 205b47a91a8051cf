// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainLinuxSystem
import KeychainModel
import KeychainPolicyModel
import KeychainRows
import KeychainSecrets
import SystemTestSupport

@testable import KeychainItemStore

/// A whole keychain with some of its bytes changed.
///
/// One byte says whether it is opened or restored; then, again and again, a place (3, little
/// endian), a number of bytes up to 31 (1) and these. The last place of all cuts pages off.
enum DamagedKeychain {
    static let path = FuzzInputs.folder + "/keychain"
    private static let owner = KeychainOwner(user: 4711, account: "zoe")
    private static let group = "exe:/usr/bin/mail"
    private static let cut = 0xFF_FFFF
    private static let pageBytes = 4096
    private static let whole = [UInt8](FileManager.default.contents(atPath: path) ?? Data())

    private static var deviceKey: SealingKey {
        SealingKey(SecretBytes(copying: [UInt8](repeating: 5, count: SealingKey.byteCount)))
    }

    static func read(_ bytes: [UInt8]) throws -> Bool {
        let folder = try ScratchFolder(below: "/dev/shm")
        let path = folder("k.keychain")
        let made = FileManager.default.createFile(atPath: path, contents: Data(damaged(bytes)))
        try require(made, "\(path) could not be made")
        do {
            if bytes.first ?? 0 & 1 == 1 {
                return try isReturned(
                    from: .reading(path), through: OwnProcessReader(), in: folder)
            }
            return try use(path)
        } catch is KeychainStoreError { return false }
    }

    /// What is restored is used, too.
    static func isReturned(
        from copy: Descriptor, through reader: some ForeignReader, in folder: ScratchFolder
    ) throws -> Bool {
        do {
            let returned = try ReturningKeychain(
                from: copy, through: reader, at: folder("returning"), owner: owner,
                deviceKey: deviceKey)
            try returned.publish(at: folder("restored.keychain"))
            return try use(folder("restored.keychain"))
        } catch is KeychainStoreError { return false }
    }

    /// All that a daemon does with a keychain without a password.
    private static func use(_ path: String) throws -> Bool {
        let file = try KeychainFile.open(at: path, owner: owner)
        _ = try file.protectors()
        _ = try? file.unverifiedSettings()
        let unlocked = try file.unlock(deviceKey: deviceKey)
        _ = try? file.settings(unlocked.whileUnlocked)
        let keys = ClassKeys(
            always: try file.alwaysKeys(deviceKey: deviceKey),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        var found = 0
        for itemClass in ItemClass.allCases {
            found += (try? file.find(ItemQuery(itemClass), groups: [group], keys: keys).count) ?? 0
        }
        _ = try? file.itemCount()
        let findings = try file.check(repair: true, keys: keys)
        guard findings.isStructureWhole else { return found > 0 }
        let left = try file.check(repair: false, keys: keys)
        try require(
            left.damaged == 0 && left.misindexed == 0, "a repaired keychain is damaged: \(left)")
        return found > 0
    }

    private static func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var file = whole
        var reader = ByteReader(Array(bytes.dropFirst()))
        while let place = try? reader.take(3), let count = try? reader.byte() {
            let place = place.reversed().reduce(0) { $0 << 8 | Int($1) }
            if place == cut {
                file.removeLast(min(file.count, Int(count) * pageBytes))
            } else if let change = try? reader.take(min(Int(count) & 31, reader.left)) {
                for (offset, byte) in change.enumerated() where !file.isEmpty {
                    file[(place + offset) % file.count] = byte
                }
            }
        }
        return file
    }

    /// Made anew when a keychain's file changes its form.
    static func make(at path: String) throws {
        try KeychainFile.create(
            at: path, owner: owner, deviceKey: deviceKey, password: nil, deviceSecret: nil)
        let file = try KeychainFile.open(at: path, owner: owner)
        let unlocked = try file.unlock(deviceKey: deviceKey)
        let keys = ClassKeys(
            always: try file.alwaysKeys(deviceKey: deviceKey),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        for (number, accessible) in Accessibility.allCases.enumerated() {
            var item = NewItem(number % 2 == 0 ? .genericPassword : .internetPassword)
            item.attributes = [.account: .string("a\(number)"), .label: .string("label")]
            if number == 3 { item.attributes[.comment] = .data([UInt8](repeating: 9, count: 5000)) }
            let rights = ItemAccessControl.plain(accessible)
            let new = SealedItem.new(item, in: group, rights)
            guard accessible != .whenPasscodeSetThisDeviceOnly, let grant = grant(new) else {
                continue
            }
            let secret = number == 2 ? nil : HeldSecret(SecretBytes(copying: Array("s3cret".utf8)))
            _ = try file.add(new, secret, grant, keys: keys)
        }
        try file.setSettings(KeychainSettings(), keys: keys)
        file.flush()
    }

    private static func grant(_ item: SealedItem) -> Grant? {
        let request = AccessRequest(
            AccessRequest.Circumstances(
                .encrypt, as: .readSecret, callerGroups: [item.accessGroup],
                keychain: AccessRequest.Keychain(
                    isUnlocked: true, wasUnlockedSinceBoot: true, isPasscodeSet: false),
                mayAsk: false, provable: []),
            on: AccessRequest.Item(
                reference: item.reference, accessGroup: item.accessGroup,
                accessControl: item.accessControl))
        guard case .allow(let grant) = Judge().judge(request, Evidence()) else { return nil }
        return grant
    }
}
