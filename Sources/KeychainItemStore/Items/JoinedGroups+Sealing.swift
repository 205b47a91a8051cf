// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainModel
internal import KeychainSecrets

/// Which programs joined which groups: one entry of the keybag, sealed under the key of the class
/// after-first-unlock for this keychain, its owner and this place. So it is known while the keychain
/// is locked, as what the index tells is, and no program that writes to the file can add to it.
extension KeychainFile {
    /// The most bytes of the entry's plain text; the table takes 64 KiB.
    private static let longestEntry = 60_000

    /// Throws `.locked` before the first unlock where there is an entry, and `.damaged` where it is
    /// not one that was sealed for this place.
    package func joinedGroups(
        _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> JoinedGroups {
        let sealed = try readingOnce { try Keybag.value(of: .joined, $0) }
        guard let sealed else { return JoinedGroups() }
        return try opened(sealed, keys)
    }

    /// Changes the groups in one transaction, if `change` returns true; returns whether it did. An
    /// entry that is not believed counts as none.
    package func changeJoinedGroups(
        _ keys: borrowing ClassKeys, _ change: (inout JoinedGroups) -> Bool
    ) throws(KeychainStoreError) -> Bool {
        guard keys.isUnlocked else { throw .locked }
        return try writing { database in
            var groups = JoinedGroups()
            if let sealed = try Keybag.value(of: .joined, database) {
                do throws(KeychainStoreError) { groups = try opened(sealed, keys) } catch {
                    guard error == .damaged else { throw error }
                }
            }
            guard change(&groups) else { return false }
            try Keybag.write(.joined, try sealed(groups, keys), database)
            return true
        }
    }

    private func opened(
        _ sealed: [UInt8], _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> JoinedGroups {
        guard let plain = wrap.open(sealed, for: .joined, under: try Self.key(keys)),
            let groups = try? JoinedGroups(decoding: plain.releasedFromLockedMemory())
        else { throw .damaged }
        return groups
    }

    private func sealed(
        _ groups: JoinedGroups, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [UInt8] {
        let plain = try groups.encoded()
        guard plain.count <= Self.longestEntry else { throw .tooLarge }
        return wrap.seal(SecretBytes(copying: plain), for: .joined, under: try Self.key(keys))
    }

    private static func key(
        _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> SealingKey {
        let key = keys.withClassKey(.afterFirstUnlock) { SealingKey(SecretBytes(copying: $0)) }
        guard let key else { throw .locked }
        return key
    }
}

/// version ‖ count ‖ (name ‖ list)…
extension JoinedGroups {
    private static let version: UInt8 = 1

    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard groups.count <= Self.mostGroups else { throw .tooLarge }
        // Safe: there are at most as many as were checked.
        var bytes = [Self.version, UInt8(groups.count)]
        for group in groups {
            guard (1...Self.longestName).contains(group.name.utf8.count) else { throw .tooLarge }
            bytes.append(block: group.name.utf8)
            bytes.append(block: try group.programs.encoded())
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        self.init()
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version else { throw MalformedBytes() }
        let count = Int(try reader.byte())
        guard count <= Self.mostGroups else { throw MalformedBytes() }
        for _ in 0..<count {
            let name = try reader.text()
            guard (1...Self.longestName).contains(name.utf8.count),
                groups.last.map({ $0.name.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true
            else { throw MalformedBytes() }
            let programs = try TrustList(decoding: Array(try reader.block()))
            guard !programs.applications.isEmpty else { throw MalformedBytes() }
            for program in programs.applications { add(program, to: name) }
        }
        guard reader.isAtEnd else { throw MalformedBytes() }
    }
}
