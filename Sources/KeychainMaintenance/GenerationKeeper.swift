// SPDX-License-Identifier: Apache-2.0
package import KeychainVaults
internal import Dispatch
internal import KeychainModel
internal import KeychainItemStore
internal import Synchronization

/// Keeps a generation of each keychain that has changed, once a day, and removes what was kept of
/// deleted ones: behind everybody's back, and one keychain at a time.
package final class GenerationKeeper: Sendable {
    private static let lookEvery: Duration = .seconds(600)

    private let folder: KeychainFolder
    private let log: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "generations", qos: .utility)
    private let nextLook = Mutex(ContinuousClock.now)

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

    package func keepWhatIsDue() {
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
    }
}
