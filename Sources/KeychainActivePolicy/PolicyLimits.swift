// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
package import KeychainRequestAudit
internal import KeychainSecrets

/// The limits that a call was counted for: none counts it twice.
package struct CountedLimits {
    fileprivate var keys: Set<PolicyLimits.Key> = []

    package init() {}
}

/// How often the policy's `limit` rules let something happen: a bucket for each rule and each of its
/// keys' values. Limits on questions (`when: {prompted: true}`) have one for each place where questions
/// are shown besides: what is asked on a terminal that a program made for itself uses up nothing of
/// the user's own. Kept while the daemon runs, and counted after everything else was decided.
package final class PolicyLimits: Sendable {
    /// Beyond it the fullest bucket gives way: it has the least to tell.
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

    /// Counts the request. What an exhausted limit asks for instead comes back; one that denies is
    /// thrown.
    package func count(
        _ request: PolicyRequest, _ policy: CompiledPolicy, _ notes: RequestNotes
    ) throws(RequestError) -> [PolicyConstraint] {
        var counted = CountedLimits()
        return try count(policy.admit(request), policy, notes, &counted) { request }
    }

    /// The same of a request in the policy's numbers; `told` gives all that is known of it, where a
    /// limit counts it.
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

    /// Those that would not count the request if nothing had to be asked for it.
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

    /// A fact that can't be told has a bucket like any other value.
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
