// SPDX-License-Identifier: Apache-2.0
import CAllocationCount
import KeychainAccessControl
import KeychainModel
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyModel

/// What the judgement of one plain read costs under so many rules, with the texts of the connection
/// numbered before, as the daemon does it.
struct JudgeTimes {
    private let judge: Judge
    private let circumstances: AccessRequest.Circumstances
    private let reference: ItemReference
    private let clock = ContinuousClock()
    private static let attributes: Attributes = [
        .service: .string("svc-none.example.org"), .account: .string("anna@example.org"),
        .label: .string("Mail of the house"),
    ]

    init(rules: Int) throws {
        let set = rules == 0 ? PolicySet() : RuleMix(.realistic, rules: rules, requests: 1).policy
        let policy = try CompiledPolicy(set)
        judge = Judge(policy)
        var facts = PolicyFacts()
        if !policy.isEmpty {
            facts[.user] = .known(["anna"])
            facts[.group] = .known((0..<8).map { PolicyText("local-\($0)") })
            facts[.exe] = .known(["/usr/lib/mail-reader/bin/mail-reader"])
            facts.uid = .known(1_000)
            facts[.session] = .known(0)
            facts[.trustedExe] = .known(true)
            for field in [BooleanField.remote, .active, .screenLocked] {
                facts[field] = .known(false)
            }
        }
        guard
            let reference = ItemReference(
                itemClass: .genericPassword, identifier: [UInt8](repeating: 7, count: 16))
        else { throw DecisionTimes.Unmeasured() }
        self.reference = reference
        circumstances = AccessRequest.Circumstances(
            .decrypt, as: .readSecret, callerGroups: ["org.example.mail-reader"],
            keychain: AccessRequest.Keychain(
                isUnlocked: true, wasUnlockedSinceBoot: true, isPasscodeSet: nil),
            mayAsk: false, provable: [], facts: facts,
            numbered: policy.isEmpty ? nil : policy.number(facts), day: 20_000)
    }

    /// Nanoseconds of a judgement, the fastest of some rounds; and the blocks of memory that one
    /// takes.
    func measure() throws -> (nanoseconds: Double, allocations: Double) {
        let count = 2_000
        var fastest = Double.infinity
        var allocations = 0.0
        for _ in 0..<20 {
            let before = allocation_count()
            let start = clock.now
            for _ in 0..<count {
                guard case .allow = judgement() else { throw DecisionTimes.Unmeasured() }
            }
            let taken = start.duration(to: clock.now).nanoseconds / Double(count)
            fastest = min(fastest, taken)
            allocations = Double(allocation_count() - before) / Double(count)
        }
        return (fastest, allocations)
    }

    @inline(never)
    private func judgement() -> Verdict {
        let item = AccessRequest.Item(
            reference: reference, accessGroup: "org.example.mail-reader",
            accessControl: .plain(.whenUnlocked), attributes: Self.attributes, keychain: "login")
        return judge.judge(AccessRequest(circumstances, on: item), Evidence())
    }
}
