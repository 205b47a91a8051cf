// SPDX-License-Identifier: Apache-2.0
package import KeychainVaults
internal import Dispatch
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainItemStore
internal import Synchronization

/// Keeps a generation of each changed keychain once a day, and removes what is past its time:
/// generations of deleted keychains, and former secrets. Runs in the background. The users have
/// turns, so that the long copies of one delay no other.
package final class GenerationKeeper: Sendable {
    private static let lookEvery: Duration = .seconds(600)
    /// Rare, as each search for former secrets opens every file.
    private static let formerSecretsEvery: Duration = .seconds(24 * 60 * 60)
    /// Users whose keychains are looked at at once.
    fileprivate static let atOnce = 2

    private let folder: KeychainFolder
    private let log: @Sendable (String) -> Void
    private let queue = DispatchQueue(
        label: "generations", qos: .utility, attributes: .concurrent)
    private let nextLook = Mutex(ContinuousClock.now)
    private let nextFormerSecrets = Mutex(ContinuousClock.now)
    private let due = Mutex(DueKeychains())
    private let working = Atomic(0)

    package init(_ folder: KeychainFolder, log: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    /// Called every few seconds; returns at once.
    package func keepIfDue() {
        guard Self.isDue(nextLook, every: Self.lookEvery) else { return }
        inBackground { [self] in
            findDue()
            for _ in 1..<Self.atOnce { inBackground { self.lookAtDue(WallClock.secondsSince2001) } }
            lookAtDue(WallClock.secondsSince2001)
        }
    }

    /// Whether it looks at keychains now.
    package var isWorking: Bool { working.load(ordering: .relaxed) > 0 }

    private func inBackground(_ work: @escaping @Sendable () -> Void) {
        working.add(1, ordering: .relaxed)
        queue.async { [self] in
            work()
            working.subtract(1, ordering: .relaxed)
        }
    }

    /// `now` is in seconds since 2001.
    package func keepWhatIsDue(now: Double = WallClock.secondsSince2001) {
        findDue()
        lookAtDue(now)
    }

    private static func isDue(
        _ next: borrowing Mutex<ContinuousClock.Instant>, every interval: Duration
    ) -> Bool {
        next.withLock { next in
            guard next <= .now else { return false }
            next = .now + interval
            return true
        }
    }

    private func findDue() {
        let areFormerSecretsDue = Self.isDue(nextFormerSecrets, every: Self.formerSecretsEvery)
        let (present, gone) = (folder.keychains(), folder.keychainsWithoutFile())
        due.withLock { due in
            due.set(present, gone)
            if areFormerSecretsDue { due.withFormerSecrets.formUnion(present) }
        }
    }

    private func lookAtDue(_ now: Double) {
        while let next = due.withLock({ $0.next() }) {
            look(at: next.id, hasFile: next.hasFile, now)
            due.withLock { $0.end(next.id.user) }
        }
    }

    private func look(at id: KeychainID, hasFile: Bool, _ now: Double) {
        if folder.removeDeleted(id) {
            log("removed what was kept of the deleted keychain \(id.name) of uid \(id.user)")
        }
        guard hasFile else { return }
        if due.withLock({ $0.withFormerSecrets.remove(id) }) != nil {
            removeFormerSecrets(of: id, now)
        }
        let path = folder.filePath(id.name, id.user)
        do throws(KeychainStoreError) {
            guard let made = try KeychainGenerations(of: path).keepIfDue() else { return }
            log("kept generation \(made.number) of \(id.name) of uid \(id.user)")
        } catch {
            log("no generation kept of \(id.name) of uid \(id.user): \(error)")
        }
    }

    private func removeFormerSecrets(of id: KeychainID, _ now: Double) {
        do throws(RequestError) {
            let count = try folder.removeOldFormerSecrets(of: id, now: now)
            guard count > 0 else { return }
            log("removed \(count) former secrets of \(id.name) of uid \(id.user)")
        } catch {
            log("former secrets of \(id.name) of uid \(id.user) were not looked at: \(error)")
        }
    }
}

/// The keychains that are still to be looked at: one of each user at a time.
private struct DueKeychains {
    typealias Keychain = (id: KeychainID, hasFile: Bool)

    private var waiting: [UInt32: [Keychain]] = [:]
    /// The waiting users, each once; the first has waited longest.
    private var order: [UInt32] = []
    private var busy: Set<UInt32> = []
    /// Those whose former secrets are to be looked at.
    var withFormerSecrets: Set<KeychainID> = []

    /// Takes the place of all that was waiting.
    mutating func set(_ present: [KeychainID], _ gone: [KeychainID]) {
        waiting = [:]
        for id in present { waiting[id.user, default: []].append((id, true)) }
        for id in gone { waiting[id.user, default: []].append((id, false)) }
        order = Array(waiting.keys)
    }

    /// The next keychain of the first waiting user who has none looked at; nil also where as many
    /// are looked at as may be, by workers of an earlier look.
    mutating func next() -> Keychain? {
        guard busy.count < GenerationKeeper.atOnce,
            let position = order.firstIndex(where: { !busy.contains($0) })
        else { return nil }
        let user = order.remove(at: position)
        let next = waiting[user]?.removeFirst()
        if waiting[user]?.isEmpty ?? true { waiting[user] = nil } else { order.append(user) }
        busy.insert(user)
        return next
    }

    mutating func end(_ user: UInt32) { busy.remove(user) }
}
