// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets
package import KeyringStore
internal import Synchronization

/// Keeps a user's vault key while no process of the user's runs, and no longer than the boot.
package protocol VaultKeyKeeper: Sendable {
    /// Replaces the key that is kept; nil where there is no place for it.
    func keep(_ key: borrowing SecretBytes) -> ServiceStatus.VaultKeyPlace?
    func forget()
}

/// A random key that seals everything of one user's in the kernel's keyring, and the user's
/// records. Where workers have root's number, another process of root may read these, but can't open
/// them. It is made when it is first
/// needed after the boot, and anew after each time that it was forgotten.
package final class VaultKey: Sendable {
    /// The key, which a running request holds while another one forgets it.
    package final class Kept: Sendable {
        package let key: SealingKey
        let records: RecordKey
        /// nil where it could not be kept: it is lost with this process then.
        let place: ServiceStatus.VaultKeyPlace?

        package init(_ key: consuming SealingKey, _ place: ServiceStatus.VaultKeyPlace?) {
            records = RecordKey(from: key)
            self.key = key
            self.place = place
        }
    }

    private let keeper: any VaultKeyKeeper
    /// Every request takes it.
    private let kept: ShortLock<Kept?>
    private let making = Mutex(())

    /// `kept` is the key that an earlier process of the user's made.
    package init(_ kept: Kept?, keeper: any VaultKeyKeeper) {
        self.kept = ShortLock(kept)
        self.keeper = keeper
    }

    /// nil where it was forgotten, or never made: nothing is sealed then.
    package var present: Kept? { kept.withLock { $0 } }

    package var now: Kept {
        if let present { return present }
        return making.withLock { _ in
            if let kept = kept.withLock({ $0 }) { return kept }
            let key = SealingKey.random()
            let place = keeper.keep(key.bytes)
            let new = Kept(key, place)
            kept.withLock { $0 = new }
            return new
        }
    }

    /// Takes the key from all places that it is in. What it sealed opens no more.
    package func forget() {
        // Not while a new one is kept, which would stay there.
        let old = making.withLock { _ in
            keeper.forget()
            return kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
        }
        // Wiped after the lock is released.
        withExtendedLifetime(old) {}
    }
}

extension VaultKey: RecordKeys {
    package var presentRecordKey: RecordKey? { present?.records }
    package var recordKey: RecordKey { now.records }
}
