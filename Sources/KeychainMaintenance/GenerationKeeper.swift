// SPDX-License-Identifier: Apache-2.0
package import KeychainVaults
internal import Dispatch
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainItemStore
internal import Synchronization

/// Keeps a generation of each changed keychain once a day, and removes what is past its time:
/// generations of deleted keychains, and former secrets. Runs in the background, one keychain at a
/// time.
package final class GenerationKeeper: Sendable {
    private static let lookEvery: Duration = .seconds(600)

    private let folder: KeychainFolder
    private let log: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "generations", qos: .utility)
    private let nextLook = Mutex(ContinuousClock.now)
    /// Rare, as each search for former secrets opens every file.
    private static let formerSecretsEvery: Duration = .seconds(24 * 60 * 60)
    private let nextFormerSecrets = Mutex(ContinuousClock.now)

    package init(_ folder: KeychainFolder, log: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    /// Called every few seconds; returns at once.
    package func keepIfDue() {
        let isDue = nextLook.withLock { next in
            guard next <= .now else { return false }
            next = .now + Self.lookEvery
            return true
        }
        if isDue { queue.async { self.keepWhatIsDue() } }
    }

    /// `now` is in seconds since 2001.
    package func keepWhatIsDue(now: Double = WallClock.secondsSince2001) {
        for id in folder.keychains() + folder.keychainsWithoutFile()
        where folder.removeDeleted(id) {
            log("removed what was kept of the deleted keychain \(id.name) of uid \(id.user)")
        }
        for id in folder.keychains() {
            let path = folder.filePath(id.name, id.user)
            do throws(KeychainStoreError) {
                guard let made = try KeychainGenerations(of: path).keepIfDue() else { continue }
                log("kept generation \(made.number) of \(id.name) of uid \(id.user)")
            } catch {
                log("no generation kept of \(id.name) of uid \(id.user): \(error)")
            }
        }
        removeFormerSecretsIfDue(now)
    }

    private func removeFormerSecretsIfDue(_ now: Double) {
        let isDue = nextFormerSecrets.withLock { next in
            guard next <= .now else { return false }
            next = .now + Self.formerSecretsEvery
            return true
        }
        guard isDue else { return }
        for id in folder.keychains() {
            do throws(RequestError) {
                let count = try folder.removeOldFormerSecrets(of: id, now: now)
                guard count > 0 else { continue }
                log("removed \(count) former secrets of \(id.name) of uid \(id.user)")
            } catch {
                log("former secrets of \(id.name) of uid \(id.user) were not looked at: \(error)")
            }
        }
    }
}
