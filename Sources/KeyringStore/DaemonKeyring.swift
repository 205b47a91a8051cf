// SPDX-License-Identifier: Apache-2.0
internal import KeychainKernelKeyring
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets
internal import Synchronization

/// A part of the user keyring of the process's own number: one keyring per user, with sealed class
/// keys (docs/design/sessions.md). `KeyName` has the names below a user's keyring.
package final class DaemonKeyring: Sendable {
    /// All rights for possessor and owner, none for others.
    private static let permissions: UInt32 = 0x3f3f_0000
    /// How often a key is made again for which there was no room.
    private static let mostTries = 10
    private static let pauseMilliseconds: UInt32 = 20

    private struct Name: Hashable {
        let user: UInt32
        let key: String
    }

    private let top: KeySerial
    /// nil where this process serves all users.
    private let user: UInt32?
    /// Serial numbers of known keys: only a hint that saves a search. A key's content is sealed for
    /// its name, so that a number which the kernel has reused opens nothing.
    private let known = ShortLock<[Name: KeySerial]>([:])
    /// Two threads that write a user's first key at the same moment must share one keyring.
    private let making = Mutex(())

    /// One keyring for each state folder, identified by its device and number besides its path:
    /// daemons in different mount namespaces share the keyring of their number, and must not mix
    /// their keys in it.
    package init(stateFolder: String, serving user: UInt32? = nil) throws(RequestError) {
        self.user = user
        guard let folder = FileStatus(stateFolder) else { throw .failed(.notAvailable) }
        // Of each worker its own: two that begin at once would make it twice, and lose what is in one.
        let name =
            "keychain:\(stateFolder):\(folder.device):\(folder.number)"
            + (user.map { ":\($0)" } ?? "")
        do {
            top =
                try KernelKeyring.findKeyring(name, in: .userKeyring)
                ?? KernelKeyring.makeKeyring(
                    name, in: .userKeyring, permissions: Self.permissions)
        } catch { throw .failed(.notAvailable) }
    }

    /// Users with keys here; of those that this process serves.
    package func users() -> [UInt32] {
        if let user { return [user] }
        return ((try? names(in: top)) ?? []).compactMap { name in
            // Safe: parses a text; nil where it is no number.
            name.hasPrefix("uid:") ? UInt32(name.dropFirst(4)) : nil
        }
    }

    /// Names of the keys kept for a user.
    package func names(of user: UInt32) throws(RequestError) -> [String] {
        do {
            guard let ring = try existingRing(of: user) else { return [] }
            return try names(in: ring)
        } catch { throw .failed(.notAvailable) }
    }

    package func read(_ name: String, of user: UInt32) -> SecretBytes? {
        let place = Name(user: user, key: name)
        if let serial = known.withLock({ $0[place] }) {
            if let payload = try? KernelKeyring.read(serial) { return payload }
            known.withLock { $0[place] = nil }
        }
        guard let ring = try? existingRing(of: user),
            let key = try? KernelKeyring.find(name, in: ring)
        else { return nil }
        known.withLock { $0[place] = key }
        return try? KernelKeyring.read(key)
    }

    /// Whether the key exists now.
    package func holds(_ name: String, of user: UInt32) -> Bool {
        let place = Name(user: user, key: name)
        if let serial = known.withLock({ $0[place] }), KernelKeyring.isReadable(serial) {
            return true
        }
        return read(name, of: user) != nil
    }

    package func write(
        _ name: String, _ payload: borrowing SecretBytes, of user: UInt32,
        timeoutSeconds: UInt32? = nil
    ) throws(RequestError) {
        var tries = 0
        while true {
            do throws(KeyringError) {
                let serial = try put(name, payload, try ring(of: user), timeoutSeconds)
                known.withLock { $0[Name(user: user, key: name)] = serial }
                return
            } catch {
                // What was removed may still count for a moment.
                guard error == .quotaExceeded, tries < Self.mostTries else {
                    throw .failed(.notAvailable)
                }
                tries += 1
                if let ring = try? existingRing(of: user) { unlinkEnded(from: ring) }
                Wait.pause(milliseconds: Self.pauseMilliseconds)
            }
        }
    }

    private func put(
        _ name: String, _ payload: borrowing SecretBytes, _ ring: KeySerial,
        _ timeoutSeconds: UInt32?
    ) throws(KeyringError) -> KeySerial {
        guard let old = try KernelKeyring.find(name, in: ring),
            (try? KernelKeyring.update(old, payload)) != nil
        else {
            return try KernelKeyring.add(
                name, payload, in: ring, permissions: Self.permissions,
                timeoutSeconds: timeoutSeconds)
        }
        if let timeoutSeconds { try KernelKeyring.setTimeout(old, seconds: timeoutSeconds) }
        return old
    }

    /// Ends the key at once, for every holder of a link to it.
    package func remove(_ name: String, of user: UInt32) {
        known.withLock { $0[Name(user: user, key: name)] = nil }
        guard let ring = try? existingRing(of: user) else { return }
        guard let key = try? KernelKeyring.find(name, in: ring) else {
            return unlinkEnded(from: ring)
        }
        // Unlinked first, which gives back all that the link counts for.
        try? KernelKeyring.unlink(key, from: ring)
        KernelKeyring.end(key)
    }

    /// A key past its time is found no more, and counts until it is unlinked.
    private func unlinkEnded(from ring: KeySerial) {
        for key in (try? KernelKeyring.list(ring)) ?? []
        where (try? KernelKeyring.describe(key)) == nil {
            try? KernelKeyring.unlink(key, from: ring)
        }
    }

    private func existingRing(of user: UInt32) throws(KeyringError) -> KeySerial? {
        try KernelKeyring.findKeyring("uid:\(user)", in: top)
    }

    private func ring(of user: UInt32) throws(KeyringError) -> KeySerial {
        if let ring = try existingRing(of: user) { return ring }
        return try making.withLock { _ throws(KeyringError) in
            if let ring = try existingRing(of: user) { return ring }
            return try KernelKeyring.makeKeyring(
                "uid:\(user)", in: top, permissions: Self.permissions)
        }
    }

    /// Names of the ring's keys, without those that have ended meanwhile.
    private func names(in ring: KeySerial) throws(KeyringError) -> [String] {
        try KernelKeyring.list(ring).compactMap { serial in
            (try? KernelKeyring.describe(serial))?.description
        }
    }
}
