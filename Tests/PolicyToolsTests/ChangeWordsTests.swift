// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyAnalysis
import PolicyTools
import Testing

@Suite struct `The heading of a change` {
    private let origin = PolicyOrigin(file: "a.yaml", line: 1, column: 1, level: 0)

    private func set(_ effects: PolicyEffect...) -> PolicySet {
        PolicySet(
            rules: effects.enumerated().map { number, effect in
                PolicyRule(
                    id: PolicyText("r\(number)"), origin: origin, effect: effect,
                    match: PolicyMatch(PolicyBox(operations: PolicyOperations(.sign), [])))
            })
    }

    private func changes(_ old: PolicySet, _ new: PolicySet) -> [PolicyChange] {
        PolicyAnalysis(old, day: 10).difference(to: new).changes
    }

    private func heading(_ old: PolicySet, _ new: PolicySet) -> [String] {
        changes(old, new).map(\.heading)
    }

    private func needs(
        _ factor: PolicyFactor, within: PolicyDuration = .zero, scope: Freshness = .context
    ) -> PolicyEffect {
        .require(PolicyDemand(.factor(factor), within: within, scope: scope))
    }

    @Test func `says what is needed, and what was`() {
        let passcode = set(needs(.passcode))
        let presence = set(needs(.presence))
        #expect(heading(set(), passcode) == ["now needs \"passcode\" (before: nothing)"])
        #expect(heading(passcode, set()) == ["no longer needs \"passcode\" (now: nothing)"])
        #expect(heading(presence, passcode) == ["now needs \"passcode\" (before: \"presence\")"])
        #expect(heading(passcode, presence) == ["needs \"presence\" instead of \"passcode\""])
        #expect(
            heading(set(needs(.confirm)), passcode)
                == ["needs \"passcode\" instead of \"confirm\""])
        #expect(changes(set(), passcode).map(\.words) == ["allow → allow after \"passcode\""])
        #expect(heading(set(.forbid("")), passcode) == ["newly allowed, after \"passcode\""])
        #expect(heading(set(.forbid("")), set()) == ["newly allowed"])
        #expect(
            heading(passcode, set(.forbid("")))
                == ["newly denied (before: allowed after \"passcode\")"])
    }

    @Test func `says how old a proof may be`() {
        let fresh = set(needs(.passcode))
        let late = set(needs(.passcode, within: .minutes(5)))
        let wide = set(needs(.passcode, scope: .session))
        let both = set(needs(.passcode, within: .minutes(5), scope: .session))
        #expect(
            heading(fresh, late)
                == ["\"passcode\" may be up to 5m old (before: must be given anew)"])
        #expect(
            heading(late, fresh)
                == ["\"passcode\" must be given anew (before: may be up to 5m old)"])
        #expect(
            heading(fresh, wide)
                == ["\"passcode\" counts in scope session (before: counts in scope context)"])
        #expect(
            heading(fresh, both)
                == [
                    "\"passcode\" may be up to 5m old, in scope session "
                        + "(before: must be given anew, in scope context)"
                ])
        #expect(changes(fresh, late).map(\.words) == heading(fresh, late))
    }

    @Test func `counts apart what is new access and what needs less`() {
        let fresh = set(needs(.passcode))
        let late = set(needs(.passcode, within: .minutes(5)))
        func summary(_ old: PolicySet, _ new: PolicySet) -> String {
            PolicyAnalysis(old, day: 10).difference(to: new).summary
        }
        #expect(summary(fresh, late) == "1 difference: 0 of new access, 1 with less proof")
        #expect(summary(late, fresh) == "1 difference: 0 of new access, 0 with less proof")
        let none = set(.forbid(""))
        #expect(summary(none, late) == "1 difference: 1 of new access, 0 with less proof")
        #expect(summary(late, none) == "1 difference: 0 of new access, 0 with less proof")
        #expect(summary(late, late) == "0 differences")
    }

    @Test func `is one line, whatever a redacted name holds`() {
        let found = changes(set(), set(.redact(["a\nnewly allowed", "account"])))
        #expect(
            found.map(\.heading)
                == ["told differently: \"a\\u000anewly allowed\", account left out of answers"])
        #expect(found.map(\.after.obligations) == ["; without \"a\\u000anewly allowed\", account"])
    }

    @Test func `says with all else what is told otherwise`() {
        let new = set(needs(.passcode), .redact(["account"]), .audit(.full))
        #expect(
            heading(set(), new)
                == [
                    "now needs \"passcode\" (before: nothing); account left out of answers; "
                        + "audit: full"
                ])
        #expect(
            heading(set(), set(.redact(["account"])))
                == ["told differently: account left out of answers"])
    }
}
