// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
package import KeychainRequestAudit
internal import KeychainItemStore
internal import KeychainSecrets

/// The policy that requests are judged by. A reload swaps it; a request that began with one policy
/// ends with it.
package final class ActivePolicy: PolicyTaker {
    /// A policy, and the part of it that lets others know of items (`PolicySet.reachOnly`). A
    /// class, as every request takes a reference to it.
    package final class Pair: Sendable {
        package let judge: Judge
        package let reach: CompiledPolicy

        package init(
            _ policy: CompiledPolicy, reach: CompiledPolicy, revision: PolicyRevision? = nil
        ) {
            judge = Judge(policy, revision: revision)
            self.reach = reach
        }
    }

    private struct State {
        var pair: Pair
        var report = PolicyReport()
        var listeners: [@Sendable (PolicyReport) -> Void] = []
        var reload: (@Sendable () -> Bool)?
        var facts: FactsOfProcess?
    }
    /// The facts that rules ask about a process, for a user who wants to know them; as lines that
    /// `keychainctl policy facts` reads.
    package typealias FactsOfProcess =
        @Sendable (_ process: UInt32, _ user: UInt32) throws(RequestError) -> String

    /// Read by every request.
    private let state: ShortLock<State>

    package init(_ pair: Pair = Pair(.empty, reach: .empty)) {
        state = ShortLock(State(pair: pair))
    }

    package var now: Pair { state.withLock { $0.pair } }

    package var report: PolicyReport { state.withLock { $0.report } }

    package func use(_ pair: Pair) {
        // The old pair is released outside the lock: a policy with many rules takes long to free.
        let old = state.withLock { state in
            defer { state.pair = pair }
            return state.pair
        }
        withExtendedLifetime(old) {}
    }

    package func use(_ bundle: PolicyBundle, _ revision: PolicyRevision) {
        use(Pair(bundle.policy, reach: bundle.reach, revision: revision))
    }

    package func tell(_ report: PolicyReport) {
        let listeners = state.withLock { state in
            state.report = report
            return state.listeners
        }
        for listener in listeners { listener(report) }
    }

    /// Calls the listener with the last report, and with each later one. The listener must return
    /// at once.
    package func onReport(_ listener: @escaping @Sendable (PolicyReport) -> Void) {
        let report = state.withLock { state in
            state.listeners.append(listener)
            return state.report
        }
        listener(report)
    }

    /// Sets how policies are read again when a request asks for it.
    package func onReload(_ reload: @escaping @Sendable () -> Bool) {
        state.withLock { $0.reload = reload }
    }

    /// Sets the source of facts about processes.
    package func onFacts(_ facts: @escaping FactsOfProcess) {
        state.withLock { $0.facts = facts }
    }

    /// Throws `.notAvailable` where no source of facts was set: then no process is told from
    /// another.
    package func facts(of process: UInt32, for user: UInt32) throws(RequestError) -> String {
        guard let facts = state.withLock({ $0.facts }) else { throw .failed(.notAvailable) }
        return try facts(process, user)
    }

    /// Returns false where no new policies could be taken.
    package func reload() -> Bool {
        guard let reload = state.withLock({ $0.reload }) else { return false }
        return reload()
    }
}

/// The facts that policies ask about items (docs/policies.md, Resource: which item).
package enum ItemFacts {
    /// The facts of an item that was asked for but not looked up: facts that the query doesn't tell
    /// are unknown.
    package static func of(_ query: ItemQuery, group: String, keychain: String) -> PolicyFacts {
        var facts = PolicyItem(
            query.itemClass, query.attributes, accessGroup: group,
            rights: .plain(query.accessible ?? .always), keychain: keychain
        ).facts
        if query.accessible == nil { facts[.accessible] = .unknown }
        facts.flags = .unknown
        for field in TextField.ofItem where facts[field] == .absent { facts[field] = .unknown }
        return facts
    }
}

/// The limits that have counted a call: none counts it twice.
package struct CountedLimits {
    fileprivate var keys: Set<PolicyLimits.Key> = []

    package init() {}
}

/// How often the policy's `limit` rules let something happen: a bucket for each rule and each
/// combination of its keys' values. Limits on questions (`when: {prompted: true}`) also have one
/// for each place where questions are shown, so that questions on a terminal that a program made
/// for itself use up nothing of the user's own. Kept while the daemon runs, and counted after
/// everything else was decided.
///
/// A user's buckets take bounded memory, as a program can make any number of programs by copying
/// itself. A bucket that is full again is dropped: a new one is the same. Of too many others the
/// user whose requests made them loses those that were used least recently.
package final class PolicyLimits: Sendable {
    typealias Instant = ContinuousClock.Instant

    static let mostOfUser = 1024
    /// Beyond it the user who has most buckets loses some.
    private static let mostInAll = 65_536
    /// A user's full buckets are looked for when the user has a multiple of these.
    private static let newBetweenLooks = 64

    /// A digest, as the values may be long.
    fileprivate struct Key: Hashable {
        private let digest: SIMD32<UInt8>

        init(checksum: UInt64, statement: Int, values: [PolicyText], place: String) {
            // Each text has its length before it, so that no two keys are the same bytes.
            var bytes: [UInt8] = []
            for text in ["\(checksum)", "\(statement)", place] + values.map(\.string) {
                bytes += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
            }
            digest = SIMD32(KeyedHash.fingerprint(bytes))
        }
    }
    private struct Bucket {
        /// Each use moves it on by the time in which the limit gives one use back.
        var fullAt: Instant
        var usedAt: Instant
    }
    private struct State {
        var buckets: [Key: Bucket] = [:]
        /// The keys of the buckets that each user's requests have made. Other users' requests may
        /// use them too, where the limit is not one for each user.
        private var keys: [UInt32?: Set<Key>] = [:]

        /// Makes room for a new bucket of the user's.
        mutating func willAdd(_ key: Key, of user: UInt32?, _ now: Instant) {
            let count = keys[user]?.count ?? 0
            if count.isMultiple(of: newBetweenLooks) { drop(of: user, atMost: mostOfUser, now) }
            if buckets.count >= mostInAll,
                let largest = keys.max(by: { $0.value.count < $1.value.count })
            {
                drop(of: largest.key, atMost: largest.value.count, now)
            }
            keys[user, default: []].insert(key)
        }

        /// Drops the user's full buckets; where none is full, and there are `most`, an eighth of
        /// them, so that the next new ones find room without another look.
        private mutating func drop(of user: UInt32?, atMost most: Int, _ now: Instant) {
            let own = (keys[user] ?? []).compactMap { key in buckets[key].map { (key, $0) } }
            var gone = own.filter { $0.1.fullAt <= now }
            if gone.isEmpty, own.count >= most {
                gone = Array(own.sorted { $0.1.usedAt < $1.1.usedAt }.prefix(own.count / 8 + 1))
            }
            for (key, _) in gone {
                buckets[key] = nil
                keys[user]?.remove(key)
            }
            if keys[user]?.isEmpty == true { keys[user] = nil }
        }
    }
    private let state = ShortLock(State())
    private let clock: @Sendable () -> Instant

    package init() { clock = { .now } }

    init(clock: @escaping @Sendable () -> Instant) { self.clock = clock }

    /// Whether some use still counts.
    package var hasUses: Bool {
        let now = clock()
        return state.withLock { $0.buckets.contains { $0.value.fullAt > now } }
    }

    /// The number of buckets that are kept.
    var bucketCount: Int { state.withLock { $0.buckets.count } }

    /// Counts the request. Returns the constraints that exhausted limits ask for instead; throws
    /// where an exhausted limit denies.
    package func count(
        _ request: PolicyRequest, _ policy: CompiledPolicy, _ notes: RequestNotes
    ) throws(RequestError) -> [PolicyConstraint] {
        var counted = CountedLimits()
        return try count(policy.admit(request), policy, notes, &counted) { request }
    }

    /// Counts a request given in the policy's numbers; `told` gives all facts of it, where a limit
    /// counts it.
    package func count(
        _ admitted: AdmittedRequest, _ policy: CompiledPolicy, _ notes: RequestNotes,
        _ counted: inout CountedLimits, _ told: () -> PolicyRequest
    ) throws(RequestError) -> [PolicyConstraint] {
        let limits = policy.limits(on: admitted)
        guard !limits.isEmpty else { return [] }
        let request = told()
        let user: UInt32? = if case .known(let uid) = request.facts.uid { uid } else { nil }
        var needs: [PolicyConstraint] = []
        let ofQuestions = Self.limitsOfQuestions(limits.map(\.statement), request, policy)
        lazy var place = notes.promptPlace
        for (statement, limit) in limits {
            let values = limit.keys.map { Self.value(of: $0, request.facts) }
            let key = Key(
                checksum: policy.checksum, statement: statement, values: values,
                place: ofQuestions.contains(statement) ? place : "")
            if counted.keys.contains(key) { continue }
            if take(key, limit, for: user) {
                counted.keys.insert(key)
                continue
            }
            switch limit.then {
            case .require(let constraint): needs.append(constraint)
            case .deny:
                notes.note(rules: [policy.provenance(of: statement)?.id.string ?? ""])
                throw .refused(.tooManyRequests)
            }
        }
        return needs
    }

    /// The limits that count the request only because it asks the user something.
    private static func limitsOfQuestions(
        _ statements: [Int], _ request: PolicyRequest, _ policy: CompiledPolicy
    ) -> Set<Int> {
        guard !statements.isEmpty, case .known(true) = request.facts[.prompted] else { return [] }
        var unasked = request
        unasked.facts[.prompted] = .known(false)
        return Set(statements).subtracting(
            policy.limits(on: policy.admit(unasked)).map(\.statement))
    }

    private func take(_ key: Key, _ limit: PolicyLimit, for user: UInt32?) -> Bool {
        guard limit.count > 0 else { return false }
        let period = Duration.milliseconds(max(limit.per.milliseconds, 1))
        let now = clock()
        return state.withLock { state in
            let fullAt =
                max(state.buckets[key]?.fullAt ?? now, now) + period / Int(limit.count)
            guard fullAt <= now + period else {
                state.buckets[key]?.usedAt = now
                return false
            }
            if state.buckets[key] == nil { state.willAdd(key, of: user, now) }
            state.buckets[key] = Bucket(fullAt: fullAt, usedAt: now)
            return true
        }
    }

    /// An unknown fact has a bucket like any other value.
    private static func value(of field: PolicyText, _ facts: PolicyFacts) -> PolicyText {
        if field == "uid", case .known(let user) = facts.uid { return PolicyText("\(user)") }
        for block in [PolicyBlock.subject, .resource, .environment] {
            guard let known = TextField(field.string, in: block) else { continue }
            if case .known(let values) = facts[known] {
                return PolicyText(values.map(\.string).sorted().joined(separator: "\n"))
            }
        }
        return ""
    }
}
