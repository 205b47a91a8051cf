// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainVaults
internal import Synchronization

/// The programs that gave a keychain's own password lately, each in its Unix session.
///
/// A script makes a keychain, opens it and says when it locks, where no user can be asked. Such a
/// program knows more than that its user is there. The login keychain is left out, since its
/// password is the user's. A lock ends it.
final class GivenPasswords: Sendable {
    private static let last: Duration = .seconds(300)
    /// Of one user, so that a user's programs push out no other user's.
    private static let mostOfUser = 32

    private struct Giver: Hashable {
        let keychain: KeychainID
        let program: String
        let session: UnixSession
    }
    /// A Unix session has its leader's number, which another leader gets when all of the session's
    /// processes have ended.
    private struct UnixSession: Hashable {
        let number: Int32
        /// The leader's start; 0 where the leader has ended. The number is given to no other session
        /// while the session has a process.
        let start: UInt64

        init?(_ process: PinnedProcess) {
            guard let status = process.status() else { return nil }
            number = status.session
            let leader = PinnedProcess(pid: number, pidfd: nil)?.status()
            start = leader?.startTime ?? 0
        }
    }
    private struct Gift {
        let time: ContinuousClock.Instant
        let generation: LockGeneration
    }
    private let given = Mutex<[Giver: Gift]>([:])

    /// Notes that the password opened the keychain in that generation of its locks.
    func note(
        _ keychain: KeychainID, by caller: Caller, since generation: LockGeneration,
        at now: ContinuousClock.Instant = .now
    ) {
        guard keychain.name != .login, let giver = giver(keychain, caller) else { return }
        given.withLock { given in
            given = given.filter { $0.value.time + Self.last > now }
            let ofUser = given.filter { $0.key.keychain.user == keychain.user }
            if ofUser.count >= Self.mostOfUser,
                let oldest = ofUser.min(by: { $0.value.time < $1.value.time })
            {
                given[oldest.key] = nil
            }
            given[giver] = Gift(time: now, generation: generation)
        }
    }

    /// Whether the program gave it, and the keychain was not locked since.
    func has(
        _ keychain: KeychainID, by caller: Caller, in generation: LockGeneration,
        at now: ContinuousClock.Instant = .now
    ) -> Bool {
        guard let giver = giver(keychain, caller) else { return false }
        return given.withLock { given in
            guard let gift = given[giver] else { return false }
            return gift.time + Self.last > now && gift.generation == generation
        }
    }

    private func giver(_ keychain: KeychainID, _ caller: Caller) -> Giver? {
        guard caller.via == nil, let program = caller.identifier,
            let session = PinnedProcess(pid: caller.process, pidfd: nil).flatMap(UnixSession.init)
        else { return nil }
        return Giver(keychain: keychain, program: program, session: session)
    }
}
