// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import FoundationEssentials
package import KeychainAccessControl
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainPolicyModel
internal import KeychainSecrets

/// One JSON line for each decision, in a file of its user's, and a copy for the journal where there
/// is one: the caller, the operation, the evidence and the outcome. Neither secrets nor names of
/// items.
///
/// Reads that needed no question, and reads that found nothing, are counted and written together,
/// so that a program that reads much does not fill the disk. The same holds beyond a user's
/// allowance of lines and of bytes: each user's records have a pace. A record that rests on a proof
/// uses no line of the allowance, only its bytes.
///
/// A line is with its store before the answer leaves; no answer waits for a disk. A counted record
/// is counted before the answer leaves; the facts that the account database adds to it are looked
/// up later.
package final class AuditLog: Sendable {
    package enum Operation: String, Sendable {
        case add, copyMatching, update, delete, unlock, lock, setPassword, createKeychain, status
        case deleteKeychain
        case changeSettings, changePreferences, authenticate, reloadPolicies, loadPolicies, backup,
            restore, repair
        case addProtector, removeProtector, testProtector, unlockAtLogin, introduce
        /// Requests of the PAM module or of a screen locker.
        case login, logout, offerPassword, changePassword, resetPassword, endPasscode
    }

    /// The user and program that made a request.
    package struct Subject: Sendable {
        package var user: UInt32
        package var process: Int32?
        package var program: String
        package var session: Int32?
        /// The service that brought the request; nil for a program that connected itself.
        package var via: Caller.Via?

        package init(
            user: UInt32, process: Int32?, program: String, session: Int32?,
            via: Caller.Via? = nil
        ) {
            self.user = user
            self.via = via
            self.process = process
            self.program = program
            self.session = session
        }
    }

    /// The lines that a user may cause at once, and the seconds that earn another.
    static let burst = 60
    fileprivate static let secondsPerLine = 6.0
    /// The bytes that a user may cause at once, and the bytes earned per second.
    static let burstOfBytes = 256 * 1024
    fileprivate static let bytesPerSecond = 128.0
    fileprivate static let mostPrograms = 16
    /// The most kinds of one user's records that are counted apart; further ones are counted by
    /// operation alone.
    static let mostKinds = 32
    fileprivate static let mostCounted = 4096
    fileprivate static let countFor: Duration = .seconds(10)
    /// Users whose last refusal is kept.
    static let mostDenied = 256

    fileprivate struct Tally: Hashable {
        let operation: Operation
        let policy: PolicyRevision?
        let user: UInt32
        let via: Caller.Via?
        var program: String
        var ending: Ending

        /// A user has `mostKinds` kinds of records, which these two mostly tell apart: each read looks for
        /// its own.
        func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(program.utf8.count)
        }
    }
    /// The outcome of requests that are counted together.
    fileprivate enum Ending: Hashable {
        case alike(RequestError?)
        case differently

        var outcome: AuditOutcome {
            switch self {
            case .alike(let error): AuditOutcome(error)
            case .differently: .several
            }
        }
    }
    fileprivate struct Allowance {
        var lines = Double(AuditLog.burst)
        /// Negative after a line that was longer than the rest of the allowance.
        var bytes = Double(AuditLog.burstOfBytes)
        var asOf = BootTime.now
    }
    /// The number of records, and the account of the first.
    fileprivate struct Counted {
        var count = 0
        var first: Account?
    }
    fileprivate struct State {
        var tallies: [Tally: Counted] = [:]
        var programs: [UInt32: Set<String>] = [:]
        var kinds: [UInt32: Int] = [:]
        var allowances: [UInt32: Allowance] = [:]
        var countedSince = BootTime.now
        /// The last of each user's records in which a policy refuses, with its number.
        var denied: [UInt32: (number: UInt64, record: AuditRecord)] = [:]
        var deniedCount: UInt64 = 0
        /// True while counted records are about to be written.
        var isFlushing = false
    }

    /// Every request counts under this lock, so it is never held while something is written.
    private let state = ShortLock(State())
    private let store: any AuditStore
    private let journal: (any AuditSink)?
    /// When a request was last refused, or its user asked.
    private let lastRefusal = ShortLock<BootTime?>(nil)
    /// Counted records are completed on this queue, and then written.
    private let completing = DispatchQueue(label: "audit")
    private let completed = DispatchGroup()
    /// How long the last write waits for the account database.
    private static let lastPatience = DispatchTimeInterval.seconds(2)

    package init(_ store: any AuditStore, journal: (any AuditSink)? = nil) {
        self.store = store
        self.journal = journal
    }

    /// Whether in that time a request was refused, or its user asked: limits on guesses and questions
    /// may still count it.
    package func hasRefused(within time: Duration) -> Bool {
        lastRefusal.withLock { $0.map { .now < $0 + time } ?? false }
    }

    package func record(
        _ operation: Operation, by subject: Subject, evidence: Evidence = Evidence(),
        _ error: RequestError?, notes: RequestNotes = RequestNotes(),
        facts: () -> @Sendable () -> PolicyFacts = { { PolicyFacts() } }
    ) {
        guard operation != .status else { return }
        if operation == .authenticate || error?.isRefusal == true {
            lastRefusal.withLock { $0 = .now }
        }
        let isPlainRead =
            operation == .copyMatching && (error == nil || error == .state(.notFound))
            && !notes.wantsFullAudit
            && (notes.trust == nil || notes.trust == "listed" || notes.trust == "joined")
            && !notes.isComplainedOf
        let tally = Tally(
            operation: operation, policy: notes.revision, user: subject.user, via: subject.via,
            program: subject.program, ending: .alike(error))
        let (hasLine, first) = state.withLock { state -> (Bool, Tally?) in
            if state.hasRoom(for: subject.user),
                !evidence.isEmpty || (!isPlainRead && state.takeLine(subject.user))
            {
                return (true, nil)
            }
            return (false, state.count(tally))
        }
        if hasLine {
            let account = Account(notes, completedBy: facts())
            let record = Self.record(
                Event(operation, subject, AuditOutcome(error), notes.revision), evidence, notes,
                account)
            keep(record)
            write(record)
            return
        }
        if let first {
            let event = Event(operation, subject, AuditOutcome(error), notes.revision)
            complete(first, event, notes, facts())
        }
        flushIfDue()
    }

    /// Records a load of policies and its result. Each load has a line, whatever else root has
    /// caused: the line says what decided from then on.
    package func record(
        _ load: PolicyLoad?, under policy: PolicyRevision?, by subject: Subject,
        _ error: RequestError?
    ) {
        var event = Event(.loadPolicies, subject, AuditOutcome(error), policy)
        event.loaded = load
        write(Self.record(event, Evidence(), nil, nil))
    }

    /// Completes the account of the first of several counted records.
    private func complete(
        _ place: Tally, _ event: Event, _ notes: RequestNotes,
        _ facts: @escaping @Sendable () -> PolicyFacts
    ) {
        later { [self] in
            guard let account = Account(notes, completedBy: facts) else { return }
            keep(Self.record(event, Evidence(), notes, account))
            state.withLock { $0.tallies[place]?.first = account }
        }
    }

    /// Keeps a refusal for `lastDenied`.
    private func keep(_ record: AuditRecord) {
        guard record.tellsOfRefusal else { return }
        state.withLock { $0.keep(record) }
    }

    /// The last record, since the service began, in which a policy refused a request of the user;
    /// for root, of any user. A line of the log without its end.
    package func lastDenied(of user: UInt32) -> String? {
        let record = state.withLock { state in
            user == 0
                ? state.denied.values.max { $0.number < $1.number }?.record
                : state.denied[user]?.record
        }
        return record.map { String(decoding: $0.line.dropLast(), as: UTF8.self) }
    }

    private func later(_ work: @escaping @Sendable () -> Void) {
        CoreSet.withAll { completing.async(group: completed, execute: work) }
    }

    /// Writes counted records that are old enough, once they are completed.
    package func flushIfDue() {
        guard state.withLock({ $0.beginsFlushing() }) else { return }
        later { [self] in writeCounted() }
    }

    /// Writes all counted records.
    package func flush() {
        _ = completed.wait(timeout: .now() + Self.lastPatience)
        writeCounted()
    }

    /// Writes the last records, and ends the store and the journal.
    package func finish() {
        _ = completed.wait(timeout: .now() + Self.lastPatience)
        writeCounted(isLast: true)
        store.finish()
        journal?.finish()
    }

    /// Records beyond their user's allowance stay counted, by operation alone.
    private func writeCounted(isLast: Bool = false) {
        for (tally, counted) in state.withLock({ $0.takeCounted() }) {
            let mayWrite = state.withLock { state in
                if isLast || state.hasRoom(for: tally.user) { return true }
                state.putBack(tally, counted.count)
                return false
            }
            guard mayWrite else { continue }
            let subject = Subject(
                user: tally.user, process: nil, program: tally.program, session: nil,
                via: tally.via)
            write(
                Self.record(
                    Event(tally.operation, subject, tally.ending.outcome, tally.policy),
                    Evidence(), nil, counted.first, count: counted.count))
        }
    }

    private func write(_ record: AuditRecord) {
        var record = record
        let lost = store.takeLost(of: record.user)
        if lost > 0 { record.lost = lost }
        let line = record.line
        state.withLock { $0.spend(line.count, of: record.user) }
        store.append(line, of: record.user, records: lost + 1)
        journal?.append(record)
    }

    /// The policy's decision on a request, in the form that `keychainctl policy` reads.
    fileprivate struct Account {
        /// nil where it is too long for a record.
        let request: String?
        let decision: PolicyDecision
        /// Names of facts that the request tells only in part.
        let cut: [String]

        init?(_ notes: RequestNotes, completedBy facts: () -> PolicyFacts) {
            guard let account = notes.account(completedBy: facts) else { return nil }
            let (request, cut) = account.request.shortened(to: AuditRecord.longestText)
            let json = request.json
            let isShort = json.utf8.count <= AuditRecord.longestRequest
            self.request = isShort ? json : nil
            self.cut = isShort ? cut : ["request"]
            decision = account.decision
        }
    }

    /// The operation, the program that asked for it, and the outcome.
    fileprivate struct Event {
        let operation: Operation
        let subject: Subject
        let outcome: AuditOutcome
        let policy: PolicyRevision?
        var loaded: PolicyLoad?

        init(
            _ operation: Operation, _ subject: Subject, _ outcome: AuditOutcome,
            _ policy: PolicyRevision?
        ) {
            self.operation = operation
            self.subject = subject
            self.outcome = outcome
            self.policy = policy
        }
    }

    fileprivate static func record(
        _ event: Event, _ evidence: Evidence, _ notes: RequestNotes?, _ account: Account?,
        count: Int = 1
    ) -> AuditRecord {
        let subject = event.subject
        return AuditRecord(
            time: Date(), operation: event.operation.rawValue, user: subject.user,
            process: subject.process, program: AuditRecord.cut(subject.program),
            session: subject.session, via: subject.via?.rawValue,
            evidence: evidence.proofs.map { AuditRecord.cut($0.method.words) },
            outcome: event.outcome,
            because: (notes?.rules ?? []).map { AuditRecord.cut($0) },
            items: notes?.items ?? [], count: count,
            milliseconds: notes.map { milliseconds(since: $0.began) }, trust: notes?.trust,
            request: account?.request, decision: account?.decision.outcome.rawValue,
            requires: account?.decision.requires.map { AuditRecord.cut($0.json) },
            would: account?.decision.wouldDecide?.rawValue, cut: account?.cut ?? [],
            policy: event.policy?.description, loaded: event.loaded)
    }
}

extension AuditLog {
    private static func milliseconds(since began: BootTime) -> Double {
        let microseconds = Double(BootTime.now.nanoseconds(since: began)) / 1000
        return (microseconds / 10).rounded() / 100
    }
}

extension AuditLog.State {
    mutating func takeLine(_ user: UInt32) -> Bool {
        var allowance = allowance(of: user)
        let allowed = allowance.lines >= 1
        if allowed { allowance.lines -= 1 }
        allowances[user] = allowance
        return allowed
    }

    func hasRoom(for user: UInt32) -> Bool { allowance(of: user).bytes > 0 }

    /// The user's allowance, with what was earned since its last use.
    private func allowance(of user: UInt32) -> AuditLog.Allowance {
        var allowance = allowances[user] ?? AuditLog.Allowance()
        let now = BootTime.now
        // Whole seconds only: the rest is earned the next time.
        let passed = Double(now.nanoseconds(since: allowance.asOf) / 1_000_000_000)
        guard passed > 0 else { return allowance }
        allowance.lines = min(
            allowance.lines + passed / AuditLog.secondsPerLine, Double(AuditLog.burst))
        allowance.bytes = min(
            allowance.bytes + passed * AuditLog.bytesPerSecond, Double(AuditLog.burstOfBytes))
        allowance.asOf = now
        return allowance
    }

    /// Counts the record. Returns the tally that counts it where the record is the first of its kind;
    /// else nil.
    fileprivate mutating func count(_ tally: AuditLog.Tally) -> AuditLog.Tally? {
        if countAgain(tally) { return nil }
        let place = place(of: tally)
        if countAgain(place) { return nil }
        kinds[place.user, default: 0] += 1
        tallies[place] = AuditLog.Counted(count: 1)
        return place
    }

    /// Counts one more of a known tally; false where it is not known.
    private mutating func countAgain(_ tally: AuditLog.Tally) -> Bool {
        guard let known = tallies.index(forKey: tally) else { return false }
        tallies.values[known].count += 1
        return true
    }

    /// The tally for a kind that was not counted before. A user may run any number of programs; the
    /// file names some of them.
    private mutating func place(of tally: AuditLog.Tally) -> AuditLog.Tally {
        var tally = tally
        let known = programs[tally.user, default: []]
        if !known.contains(tally.program) {
            if known.count < AuditLog.mostPrograms {
                programs[tally.user, default: []].insert(tally.program)
            } else {
                tally.program = "others"
            }
        }
        if tallies[tally] == nil, kinds[tally.user, default: 0] >= AuditLog.mostKinds {
            (tally.program, tally.ending) = ("others", .differently)
        }
        return tally
    }

    /// Keeps the record in place of the user whose refusal is the oldest, where too many are kept.
    mutating func keep(_ record: AuditRecord) {
        if denied[record.user] == nil, denied.count >= AuditLog.mostDenied,
            let oldest = denied.min(by: { $0.value.number < $1.value.number })
        {
            denied[oldest.key] = nil
        }
        deniedCount += 1
        denied[record.user] = (deniedCount, record)
    }

    mutating func spend(_ bytes: Int, of user: UInt32) {
        var allowance = allowance(of: user)
        allowance.bytes -= Double(bytes)
        allowances[user] = allowance
    }

    /// Returns true once, then false until the counted records are taken.
    mutating func beginsFlushing() -> Bool {
        let isDue =
            tallies.count > AuditLog.mostCounted || countedSince + AuditLog.countFor < .now
        guard isDue, !isFlushing else { return false }
        isFlushing = true
        return true
    }

    fileprivate mutating func takeCounted() -> [AuditLog.Tally: AuditLog.Counted] {
        let counted = tallies
        tallies = [:]
        programs = [:]
        kinds = [:]
        countedSince = .now
        isFlushing = false
        return counted
    }

    fileprivate mutating func putBack(_ tally: AuditLog.Tally, _ count: Int) {
        var place = tally
        (place.program, place.ending) = ("others", .differently)
        tallies[place, default: AuditLog.Counted()].count += count
    }
}

extension AuditLog.Subject {
    package init(_ caller: Caller) {
        self.init(
            user: caller.user, process: caller.process,
            program: caller.identifier ?? "unknown", session: caller.session?.rawValue,
            via: caller.via)
    }
}

extension PolicyMethod {
    fileprivate var words: String {
        switch self {
        case .factor(let factor): factor.rawValue
        case .pam(let service): approver.map { "approval by \($0)" } ?? service.string
        }
    }
}

extension RequestError {
    fileprivate var isRefusal: Bool { if case .refused = self { true } else { false } }
}
