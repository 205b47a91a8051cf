// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import KeychainLinuxSystem
internal import ProgramHandoff
internal import Synchronization
internal import WorkerHandoff

/// The user numbers that workers have, so that the kernel keeps files, keys and processes of users apart.
/// A user's worker has the number that owns the user's folder: there is no other record of it.
final class WorkerNumbers: Sendable {
    /// Why a user's worker has no number.
    enum Failure: Error, CustomStringConvertible {
        /// The folder belongs to another number than those of workers.
        case folderOf(UInt32, String)
        /// It belongs to another user's number.
        case shared(UInt32, String, String)
        case noneFree
        case starter(StarterError)
        case system(SystemError)

        var description: String {
            switch self {
            case .folderOf(let owner, let path):
                "\(path) belongs to uid \(owner); chown it and its files to root, and keychaind gives it a number"
            case .shared(let owner, let path, let other):
                """
                \(path) and \(other) both belong to uid \(owner); chown the one that was copied, \
                and its files, to root, and keychaind gives it a number
                """
            case .noneFree: "no number is free"
            case .starter(let error): "keychain-starter could not give it a number (\(error))"
            case .system(.system(let code)): SystemError.words(code)
            case .system(let error): "\(error)"
            }
        }
    }

    private let state: String
    private let runtime: String
    private let starter: UnboundStarter
    private let isMapped: Bool
    /// The number of each user whose folders were adopted since keychaind started.
    private let adopted = Mutex<[UInt32: UInt32]>([:])
    /// One user after the other, so that no number is given twice. The account directory is asked before:
    /// one that hangs must delay no other user.
    private let giving = Mutex(())

    init(state: String, runtime: String, starter: UnboundStarter) {
        self.state = state
        self.runtime = runtime
        self.starter = starter
        isMapped = AdoptedNumbers.exist(
            in: KernelFile.read("/proc/self/uid_map", limit: 4096) ?? [])
    }

    /// The number of the user's worker, whose folders belong to it from now on. Zero where this machine, as
    /// a container, has no such numbers: workers have root's then. No worker of the `served` users has the
    /// number, wherever their folders have gone meanwhile.
    func number(of user: UInt32, besides served: Set<UInt32>) throws(Failure) -> UInt32 {
        guard isMapped else { return 0 }
        if let known = adopted.withLock({ $0[user] }), isOwner(known, of: user) { return known }
        var accounts: Set<UInt32> = []
        while true {
            let number = try chosen(for: user, served, accounts)
            if !isOwner(number, of: user), Account.name(of: number) != nil {
                accounts.insert(number)
                continue
            }
            let isGiven = try giving.withLock { _ throws(Failure) in
                // Another user may have got it meanwhile.
                guard try chosen(for: user, served, accounts) == number else { return false }
                try give(number, to: user)
                return true
            }
            if isGiven { return number }
        }
    }

    /// Ends a process that worked for the user, which keychaind may not do itself.
    func end(_ process: Descriptor, of user: UInt32) {
        guard let number = adopted.withLock({ $0[user] }) else {
            // It has root's number, as this process has.
            ProcessDescriptor.kill(process)
            return
        }
        try? starter.end(process, of: user, number)
    }

    private func give(_ number: UInt32, to user: UInt32) throws(Failure) {
        let (state, runtime) = try folders()
        do throws(StarterError) {
            try starter.adopt(user, number, state: state, runtime: runtime)
        } catch { throw .starter(error) }
        adopted.withLock { $0[user] = number }
    }

    private func folders() throws(Failure) -> (state: Descriptor, runtime: Descriptor) {
        do { return (try .ofFolder(state), try .ofFolder(runtime)) } catch { throw .system(error) }
    }

    private func folder(_ user: UInt32) -> String { "\(state)/\(user)" }

    private func isOwner(_ number: UInt32, of user: UInt32) -> Bool {
        FileStatus(folder(user))?.owner == number
    }

    /// The number that the user has; else the first that no other user has, nor an account.
    private func chosen(
        for user: UInt32, _ served: Set<UInt32>, _ accounts: Set<UInt32>
    ) throws(Failure) -> UInt32 {
        let owner = FileStatus(folder(user))?.owner ?? 0
        var taken: [UInt32: UInt32] = [:]
        for (other, number) in adopted.withLock({ $0 })
        where other != user && served.contains(other) {
            taken[number] = other
        }
        for other in FolderNames.all(in: state).compactMap({ UInt32($0) }) where other != user {
            if let owner = FileStatus(folder(other))?.owner { taken[owner] = other }
        }
        if AdoptedNumbers.range.contains(owner) {
            // A folder that was copied with its owner: the kernel would not keep the two users apart.
            guard let other = taken[owner] else { return owner }
            throw .shared(owner, folder(user), folder(other))
        }
        guard owner == 0 else { throw .folderOf(owner, folder(user)) }
        // A user gets the same number again where the state was lost, and on another machine.
        let count = UInt32(AdoptedNumbers.range.count)
        for step in 0..<count {
            let number = AdoptedNumbers.range.lowerBound + (user % count + step) % count
            if taken[number] == nil && !accounts.contains(number) { return number }
        }
        throw .noneFree
    }
}
