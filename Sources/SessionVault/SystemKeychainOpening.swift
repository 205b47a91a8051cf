// SPDX-License-Identifier: Apache-2.0
package import KeychainVaults
package import KeychainModel
package import KeychainItemStore
internal import Synchronization

/// Opens the machine's keychain by means of the machine alone: its device key, its TPM, or a
/// credential of the service from systemd. Nothing is typed.
package final class SystemKeychainOpening: Sendable {
    /// How long a TPM that did not answer is not asked again.
    private static let patience: Duration = .seconds(10)

    private struct Failure {
        let refusal: RequestError
        let at = ContinuousClock.now
    }
    private let protectors: Protectors
    /// Separate from the queue of passwords: a TPM that does not answer must not delay logins.
    private let last = Mutex<Failure?>(nil)

    package init(_ protectors: Protectors) { self.protectors = protectors }

    package func open(_ keychain: OpenKeychain) throws(RequestError) -> UnlockedKeys {
        try last.withLock { last throws(RequestError) in
            if let failed = last, failed.at.duration(to: .now) < Self.patience {
                throw failed.refusal
            }
            do throws(RequestError) {
                let unlocked = try protectors.unlockUnasked(keychain)
                last = nil
                return unlocked
            } catch {
                last = Failure(refusal: error)
                throw error
            }
        }
    }
}
