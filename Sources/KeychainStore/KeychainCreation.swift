// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB
public import Secrets

extension KeychainFile {
    /// Makes a keychain with fresh keys; whatever is already at the path stays and is an error.
    ///
    /// Without a password the device key protects the master key too. `deviceSecret` goes into the
    /// passcode-set class, which exists with a password only.
    public static func create(
        at path: String, owner: KeychainOwner, deviceKey: borrowing SealingKey,
        password: HeldSecret?, deviceSecret: HeldSecret?, deviceProtector: Bool = false,
        cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        guard (try? FileManager.default.attributesOfItem(atPath: path)) == nil else {
            throw .alreadyExists
        }
        let entries = try newEntries(
            owner, deviceKey, password, deviceSecret, deviceProtector, cost)
        let place = try BuildingPlace(for: path)
        do {
            let queue = try DatabaseQueue(
                path: place.file, configuration: .newKeychain())
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA page_size = \(KeychainSchema.pageBytes)")
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            try queue.write { database in
                try database.execute(sql: KeychainSchema.statements)
                for (entry, value) in entries { try Keybag.write(entry, value, database) }
            }
            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try queue.close()
            try place.publish()
        } catch {
            place.remove()
            throw KeychainStoreError(error)
        }
        place.remove()
    }

    private static func newEntries(
        _ owner: KeychainOwner, _ deviceKey: borrowing SealingKey, _ password: HeldSecret?,
        _ deviceSecret: HeldSecret?, _ deviceProtector: Bool, _ cost: PasswordCostChoice
    ) throws(KeychainStoreError) -> [(Keybag.Entry, [UInt8])] {
        let identifier = RandomBytes.make(Keybag.identifierBytes)
        let wrap = KeyWrap(identifier: identifier, owner: owner)
        let master = SealingKey.random()
        let two = SecretBytes(random: 2 * SealingKey.byteCount)
        var entries: [(Keybag.Entry, [UInt8])] = [
            (.identifier, identifier),
            (.owner, owner.bytes),
            (.always, wrap.seal(KeyBundle.random(.always).bytes, for: .always, under: deviceKey)),
            (
                .afterFirstUnlock,
                wrap.seal(
                    KeyBundle.random(.afterFirstUnlock).bytes, for: .afterFirstUnlock,
                    under: master)
            ),
            (.whileUnlocked, wrap.seal(two, for: .whileUnlocked, under: master)),
        ]
        if deviceProtector || password == nil {
            entries.append(
                (.deviceProtector, wrap.seal(master.bytes, for: .deviceProtector, under: deviceKey))
            )
        }
        if let password {
            entries += try passwordEntries(
                password.bytes, deviceSecret, master, SealingKey.random(), wrap, cost)
        }
        return entries
    }

    /// What a new password writes.
    static func passwordEntries(
        _ password: borrowing SecretBytes, _ deviceSecret: HeldSecret?,
        _ master: borrowing SealingKey, _ passcode: borrowing SealingKey, _ wrap: KeyWrap,
        _ cost: PasswordCostChoice
    ) throws(KeychainStoreError) -> [(Keybag.Entry, [UInt8])] {
        let parameters: PasswordParameters
        do { parameters = try cost.parameters() } catch { throw KeychainStoreError(error) }
        let keys = try PasswordKeys(password, parameters)
        let protector = PasswordProtector(keys, parameters, master: master, wrap)
        var entries = [(Keybag.Entry.passwordProtector, protector.bytes)]
        if let deviceSecret {
            let sealing = keys.passcodeKey(with: deviceSecret.bytes)
            entries.append((.passcode, wrap.seal(passcode.bytes, for: .passcode, under: sealing)))
        }
        return entries
    }
}
