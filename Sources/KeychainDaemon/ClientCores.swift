// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// Has the threads of one user's connections run on the cores of their clients, while more connections
/// are busy than the process has cores.
///
/// A client waits while its thread works, and the thread while its client does. On two cores each wakes
/// the other across cores, and what both use goes back and forth between them: a read costs a sixth
/// more. The kernel often leaves the two apart while all cores are busy. While there are idle cores its
/// own choice is better: a thread that is kept on one core waits where another program computes there.
final class ClientCores: Sendable {
    /// The thread of one connection.
    struct Place {
        fileprivate var nextLook: BootTime?
        /// Since the last look.
        fileprivate var reads = 0
        fileprivate var countedIn = 0
        /// The core that the thread is kept on; nil where it may run on all of its process's.
        fileprivate var core: Int?
    }

    private static let looksInPeriod = 4
    /// A connection is busy that reads so often from one look to the next.
    private static let readsOfBusy = 8

    private struct Period {
        var number = 0
        var busy = 0
        var busyBefore = 0
    }

    private let interval: Duration
    private let periodNanoseconds: UInt64
    /// The number of the process's cores when it began.
    private let coreCount = CoreSet.ofProcess?.count ?? .max
    private let start = BootTime.now
    private let period = ShortLock(Period())

    /// A thread looks where its client runs once in each interval.
    init(interval: Duration = .milliseconds(50)) {
        self.interval = interval
        periodNanoseconds = max((interval * Self.looksInPeriod).wholeNanoseconds, 1)
    }

    /// Has the calling thread, which has received a request, follow the client if its time to look has
    /// come. A client of several threads is not followed, as the kernel tells the core of the first; nor
    /// is one that may not use all cores, as all threads would gather where it may.
    func follow(_ client: @autoclosure () -> PinnedProcess?, _ place: inout Place) {
        let now = BootTime.now
        place.reads &+= 1
        guard let nextLook = place.nextLook else { return place.nextLook = now + interval }
        if now < nextLook { return }
        place.nextLook = now + interval
        let isBusy = place.reads >= Self.readsOfBusy
        place.reads = 0
        // Counted first: where there is no crowd a look asks the kernel nothing.
        guard isBusy, isCrowded(now, &place), let all = CoreSet.ofProcess,
            let client = client(), CoreSet(ofProcess: client.id) == all,
            let status = client.status(),
            status.threadCount == 1, let core = status.core, all.contains(core)
        else { return release(&place) }
        guard core != place.core, isAsLeft(place, all), CoreSet(core).keepThread() else { return }
        place.core = core
    }

    /// Gives the calling thread all cores of its process again.
    func release(_ place: inout Place) {
        guard place.core != nil else { return }
        if let all = CoreSet.ofProcess, isAsLeft(place, all) { all.keepThread() }
        place.core = nil
    }

    /// False where something else has given the thread cores since, as an administrator with taskset(1):
    /// these stay.
    private func isAsLeft(_ place: Place, _ all: CoreSet) -> Bool {
        CoreSet.ofThread == place.core.map(CoreSet.init) ?? all
    }

    private func isCrowded(_ now: BootTime, _ place: inout Place) -> Bool {
        // Safe: a number of periods since the start, counted from 1.
        let number = 1 + Int(now.nanoseconds(since: start) / periodNanoseconds)
        let isCounted = place.countedIn == number
        place.countedIn = number
        return period.withLock { period in
            if number > period.number {
                // Safe: as above.
                period.busyBefore = period.number == number - 1 ? period.busy : 0
                (period.number, period.busy) = (number, 0)
            }
            if !isCounted { period.busy += 1 }
            return max(period.busy, period.busyBefore) > coreCount
        }
    }
}

/// Whether several users have connections. A user's threads take turns then (`RequestTurns`), and follow no
/// client.
package final class ConnectedUsers: Sendable {
    /// Atomic, so that a look before each read waits for no lock.
    private let several = Atomic(false)

    package init() {}

    package var areSeveral: Bool { several.load(ordering: .relaxed) }

    package func are(several: Bool) { self.several.store(several, ordering: .relaxed) }
}
