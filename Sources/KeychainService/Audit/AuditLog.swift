// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainModel
internal import Synchronization

/// One JSON line for each decision, in a file of the state folder, and an entry of the journal
/// where there is one: who, what, with which evidence, and how it ended. Neither secrets nor names
/// of items.
///
/// Reads that needed no question, and those that found nothing, are counted and written together,
/// so that a program that reads much does not fill the disk. So is everything beyond a user's
/// allowance of lines and of bytes: each user's records have a pace, and a share of the file
/// (`AuditShares`). What rests on a proof needs no line of the allowance, but its bytes.
final class AuditLog: Sendable {
    enum Operation: String, Sendable {
        case add, copyMatching, update, delete, unlock, lock, setPassword, createKeychain, status
        case changeSettings, changePreferences, authenticate, reloadPolicies, loadPolicies, backup,
            restore, repair
        case addProtector, removeProtector, testProtector, unlockAtLogin
        /// What PAM's module or a screen locker asked for.
        case login, logout, offerPassword, changePassword, resetPassword, endPasscode
    }

    /// Who it was.
    struct Subject: Sendable {
        var user: UInt32
        var process: Int32?
        var program: String
        var session: Int32?
    }

    /// Lines a user may cause at once, and the seconds after which the user may cause another.
    static let burst = 60
    fileprivate static let secondsPerLine = 6.0
    /// The same in bytes.
    static let burstOfBytes = 256 * 1024
    fileprivate static let bytesPerSecond = 128.0
    fileprivate static let mostPrograms = 16
    /// Of one user's that are counted apart; what the user does besides is counted by operation
    /// alone.
    static let mostKinds = 32
    fileprivate static let mostCounted = 4096
    fileprivate static let countFor: Duration = .seconds(10)

    fileprivate struct Tally: Hashable {
        let operation: Operation
        let user: UInt32
        var program: String
        var outcome: String
    }
    fileprivate struct Allowance {
        var lines = Double(AuditLog.burst)
        /// Below zero after a line that was longer than what was left.
        var bytes = Double(AuditLog.burstOfBytes)
        var asOf = ContinuousClock.now
    }
    fileprivate struct State {
        var file: AuditFile
        let journal: AuditJournal?
        /// How many there were, and what is known of the first.
        var tallies: [Tally: (count: Int, first: Account?)] = [:]
        var programs: [UInt32: Set<String>] = [:]
        var kinds: [UInt32: Int] = [:]
        var allowances: [UInt32: Allowance] = [:]
        var countedSince = ContinuousClock.now
    }

    private let state: Mutex<State>

    init(folder: String, journal: AuditJournal? = nil) {
        state = Mutex(State(file: AuditFile(folder + "/audit.jsonl"), journal: journal))
    }

    func record(
        _ operation: Operation, _ asker: any Asker, _ evidence: Evidence, _ refusal: Refusal?
    ) {
        record(
            operation, by: Subject(asker.caller), evidence: evidence, refusal, notes: asker.notes
        ) { asker.policyFacts(.told) }
    }

    func record(
        _ operation: Operation, by subject: Subject, evidence: Evidence = Evidence(),
        _ refusal: Refusal?, notes: RequestNotes = RequestNotes(),
        facts: () -> PolicyFacts = { PolicyFacts() }
    ) {
        guard operation != .status else { return }
        let outcome = refusal.map { "\($0)" } ?? "allowed"
        let isPlainRead =
            operation == .copyMatching && (refusal == nil || refusal == .notFound)
            && !notes.wantsFullAudit && (notes.trust ?? "listed") == "listed"
            && !notes.isComplainedOf
        let tally = Tally(
            operation: operation, user: subject.user, program: subject.program, outcome: outcome)
        let (hasLine, place, isToldOf) = state.withLock { state in
            if state.hasRoom(for: subject.user),
                !evidence.isEmpty || (!isPlainRead && state.takeLine(subject.user))
            {
                return (true, tally, false)
            }
            let place = state.place(of: tally)
            return (false, place, state.tallies[place]?.first != nil)
        }
        // Not under the lock: who is in which groups may take long to find out.
        let account = isToldOf ? nil : Account(notes, completedBy: facts)
        state.withLock { state in
            if hasLine {
                state.append(Self.record(operation, subject, evidence, outcome, notes, account))
            } else {
                state.count(place, account)
            }
        }
    }

    /// Writes what has been counted, where it is old enough.
    func flushIfDue() {
        state.withLock { if $0.countedSince + Self.countFor < .now { $0.flush() } }
    }

    /// Writes what has been counted.
    func flush() { state.withLock { $0.flush() } }

    /// The last that is written.
    func finish() {
        state.withLock { $0.flush(isLast: true) }
        state.withLock { $0.journal }?.finish()
    }

    /// What the policy made of a request, in words that `keychainctl policy` reads.
    fileprivate struct Account {
        /// nil where it is too long for a record.
        let request: String?
        let decision: PolicyDecision
        /// What the request does not tell in full.
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

    fileprivate static func record(
        _ operation: Operation, _ subject: Subject, _ evidence: Evidence, _ outcome: String,
        _ notes: RequestNotes? = nil, _ account: Account?, count: Int = 1
    ) -> AuditRecord {
        AuditRecord(
            time: Date(), operation: operation.rawValue, user: subject.user,
            process: subject.process, program: AuditRecord.cut(subject.program),
            session: subject.session,
            evidence: evidence.proofs.map { AuditRecord.cut($0.method.words) }, outcome: outcome,
            because: (notes?.rules ?? []).map { AuditRecord.cut($0) },
            items: notes?.items ?? [], count: count,
            milliseconds: notes.map { milliseconds(since: $0.began) }, trust: notes?.trust,
            request: account?.request, decision: account?.decision.outcome.rawValue,
            requires: account?.decision.requires.map { AuditRecord.cut($0.json) },
            would: account?.decision.would?.rawValue, cut: account?.cut ?? [])
    }
}

extension AuditLog {
    private static func milliseconds(since began: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = began.duration(to: .now).components
        let microseconds = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
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

    /// With what has been earned meanwhile.
    private func allowance(of user: UInt32) -> AuditLog.Allowance {
        var allowance = allowances[user] ?? AuditLog.Allowance()
        let now = ContinuousClock.now
        // Whole seconds only: the rest is earned the next time.
        let passed = Double((now - allowance.asOf).components.seconds)
        guard passed > 0 else { return allowance }
        allowance.lines = min(
            allowance.lines + passed / AuditLog.secondsPerLine, Double(AuditLog.burst))
        allowance.bytes = min(
            allowance.bytes + passed * AuditLog.bytesPerSecond, Double(AuditLog.burstOfBytes))
        allowance.asOf = now
        return allowance
    }

    /// A user may have any number of programs; the file names some of them.
    fileprivate mutating func place(of tally: AuditLog.Tally) -> AuditLog.Tally {
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
            (tally.program, tally.outcome) = ("others", "several")
        }
        return tally
    }

    fileprivate mutating func append(_ record: AuditRecord) {
        let line = record.line
        var allowance = allowance(of: record.user)
        allowance.bytes -= Double(line.count)
        allowances[record.user] = allowance
        file.append(line)
        journal?.append(record)
    }

    fileprivate mutating func count(_ tally: AuditLog.Tally, _ account: AuditLog.Account?) {
        if let known = tallies[tally] {
            tallies[tally] = (known.count + 1, known.first ?? account)
        } else {
            tallies[tally] = (1, account)
            kinds[tally.user, default: 0] += 1
        }
        if tallies.count > AuditLog.mostCounted || countedSince + AuditLog.countFor < .now {
            flush()
        }
    }

    /// What is beyond its user's allowance stays counted, by operation alone.
    mutating func flush(isLast: Bool = false) {
        let counted = tallies
        tallies = [:]
        programs = [:]
        kinds = [:]
        countedSince = .now
        for (tally, (count, first)) in counted {
            guard isLast || hasRoom(for: tally.user) else {
                var place = tally
                (place.program, place.outcome) = ("others", "several")
                tallies[place] = ((tallies[place]?.count ?? 0) + count, nil)
                continue
            }
            let subject = AuditLog.Subject(
                user: tally.user, process: nil, program: tally.program, session: nil)
            append(
                AuditLog.record(
                    tally.operation, subject, Evidence(), tally.outcome, nil, first, count: count))
        }
    }
}

extension AuditLog.Subject {
    init(_ caller: Caller) {
        self.init(
            user: caller.user, process: caller.process,
            program: caller.identity.identifier ?? "unknown", session: caller.session?.rawValue)
    }
}

extension PolicyMethod {
    fileprivate var words: String {
        switch self {
        case .factor(let factor): factor.rawValue
        case .pam(let service): service.string
        }
    }
}
