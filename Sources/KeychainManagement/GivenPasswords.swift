// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainVaults
internal import Synchronization

/// The programs that gave a keychain's own password lately, each in its Unix session.
///
/// A script makes a keychain, opens it and says when it locks, where no user can be asked. Such a
/// program knows more than that its user is there. The login keychain is left out, since its
/// password is the user's.
final class GivenPasswords: Sendable {
    private static let last: Duration = .seconds(300)
    private static let most = 256

    private struct Giver: Hashable {
        let keychain: KeychainID
        let program: String
        let session: Int32
    }
    private let given = Mutex<[Giver: ContinuousClock.Instant]>([:])

    func note(_ keychain: KeychainID, by caller: Caller, at now: ContinuousClock.Instant = .now) {
        guard keychain.name != .login, let giver = giver(keychain, caller) else { return }
        given.withLock { given in
            given = given.filter { $0.value + Self.last > now }
            if given.count >= Self.most, let oldest = given.min(by: { $0.value < $1.value }) {
                given[oldest.key] = nil
            }
            given[giver] = now
        }
    }

    func has(
        _ keychain: KeychainID, by caller: Caller, at now: ContinuousClock.Instant = .now
    ) -> Bool {
        guard let giver = giver(keychain, caller) else { return false }
        return given.withLock { $0[giver].map { $0 + Self.last > now } ?? false }
    }

    func forget(_ keychain: KeychainID) {
        given.withLock { given in given = given.filter { $0.key.keychain != keychain } }
    }

    private func giver(_ keychain: KeychainID, _ caller: Caller) -> Giver? {
        guard caller.via == nil, let program = caller.identifier,
            let session = PinnedProcess(pid: caller.process, pidfd: nil)?.status()?.session
        else { return nil }
        return Giver(keychain: keychain, program: program, session: session)
    }
}
