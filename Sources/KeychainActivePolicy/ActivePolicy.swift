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
package final class ActivePolicy: Sendable {
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

    /// The files that the policy was made of, and the result of the last load.
    package struct Report: Sendable, Equatable {
        /// Whether the policies in force differ from the files.
        package var isDegraded = false
        /// A text for people, which every user may read.
        package var text = ""
        /// The load that was read; nil where the policies in force stay.
        package var load: PolicyLoad?

        package init(isDegraded: Bool = false, text: String = "", load: PolicyLoad? = nil) {
            self.isDegraded = isDegraded
            self.text = text
            self.load = load
        }
    }

    private struct State {
        var pair: Pair
        var report = Report()
        var listeners: [@Sendable (Report) -> Void] = []
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

    package var report: Report { state.withLock { $0.report } }

    package func use(_ pair: Pair) {
        // The old pair is released outside the lock: a policy with many rules takes long to free.
        let old = state.withLock { state in
            defer { state.pair = pair }
            return state.pair
        }
        withExtendedLifetime(old) {}
    }

    package func tell(_ report: Report) {
        let listeners = state.withLock { state in
            state.report = report
            return state.listeners
        }
        for listener in listeners { listener(report) }
    }

    /// Calls the listener with the last report, and with each later one. The listener must return
    /// at once.
    package func onReport(_ listener: @escaping @Sendable (Report) -> Void) {
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
package final class PolicyLimits: Sendable {
    /// Beyond it the fullest bucket is dropped: it limits the least.
    private static let most = 65_536

    fileprivate struct Key: Hashable {
        let checksum: UInt64
        let statement: Int
        let values: [PolicyText]
        let place: String
    }
    private struct Bucket {
        var tokens: Double
        var asOf: ContinuousClock.Instant
    }
    private let buckets = ShortLock<[Key: Bucket]>([:])

    package init() {}

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
        var needs: [PolicyConstraint] = []
        let ofQuestions = Self.limitsOfQuestions(limits.map(\.statement), request, policy)
        lazy var place = notes.promptPlace
        for (statement, limit) in limits {
            let values = limit.keys.map { Self.value(of: $0, request.facts) }
            let key = Key(
                checksum: policy.checksum, statement: statement, values: values,
                place: ofQuestions.contains(statement) ? place : "")
            if counted.keys.contains(key) { continue }
            if take(key, limit) {
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

    private func take(_ key: Key, _ limit: PolicyLimit) -> Bool {
        let full = Double(limit.count)
        let perMillisecond = full / Double(max(limit.per.milliseconds, 1))
        return buckets.withLock { buckets in
            let now = ContinuousClock.now
            var bucket = buckets[key] ?? Bucket(tokens: full, asOf: now)
            let passed = PolicyDuration(bucket.asOf.duration(to: now)).milliseconds
            bucket.tokens = min(full, bucket.tokens + Double(passed) * perMillisecond)
            bucket.asOf = now
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            if buckets[key] == nil, buckets.count >= Self.most {
                let fullest = buckets.max { $0.value.tokens < $1.value.tokens }
                if let fullest { buckets[fullest.key] = nil }
            }
            buckets[key] = bucket
            return isAllowed
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
