// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel

/// Short ways to write sets.
func rule(
    _ id: PolicyText, _ effect: PolicyEffect, _ operations: PolicyOperations = .all,
    _ conditions: PolicyCondition..., unless exceptions: [PolicyBox] = []
) -> PolicyRule {
    PolicyRule(
        id: id, origin: origin, effect: effect,
        match: PolicyMatch(PolicyBox(operations: operations, conditions), unless: exceptions))
}

func scope(_ id: PolicyText, _ conditions: PolicyCondition...) -> ClosedScope {
    ClosedScope(id: id, origin: origin, match: PolicyMatch(PolicyBox(conditions)))
}

func never(
    _ operations: PolicyOperations = .all, _ conditions: PolicyCondition...
) -> PolicyAssertion {
    PolicyAssertion(
        id: "assertion", origin: origin,
        never: PolicyBox(operations: operations, conditions))
}

func literal(_ field: TextField, _ texts: PolicyText...) -> PolicyCondition {
    .text(field, texts.map { .literal($0) })
}

let passcode = PolicyEffect.require(PolicyDemand(.factor(.passcode)))
let today: Int32 = PolicyGenerator.day

private let origin = PolicyOrigin(file: "10-test.yaml", line: 3, column: 5, level: 0)

extension PolicyRequest {
    /// The request as analysis takes requests: no evidence, an item that asks for nothing, a user
    /// to answer.
    var plain: PolicyRequest {
        var plain = self
        plain.before = nil
        plain.evidence = []
        plain.facts.constraint = .none
        plain.facts[.interactive] = .known(true)
        return plain
    }

    /// Whether there can be such facts at all, whatever the machine.
    var isPossible: Bool {
        func isKnown(_ field: TextField) -> Bool {
            if case .known(let texts) = facts[field] { !texts.isEmpty } else { false }
        }
        func has(_ field: TextField) -> Bool { isKnown(field) || facts[field] == .unknown }
        let service = ChoiceField.session.index(of: "service")
        if let service, facts[.session] == .known(service), !isKnown(.unit) { return false }
        if facts[.trustedExe] == .known(true), !isKnown(.exe) { return false }
        guard hasFactsOfItsOperation, isRemoteAsItsSession else { return false }
        // The day is known, and is no day before today.
        guard facts.date != .unknown, day >= today else { return false }
        guard case .known(let number) = facts[.itemClass] else { return true }
        let isGeneric = number == 0
        let isInternet = number == 1
        if has(.service), !isGeneric { return false }
        if has(.server) || has(.networkProtocol), !isInternet { return false }
        return !has(.account) || isGeneric || isInternet
    }
}

extension PolicyRequest {
    /// Of some kinds of session it is known whether they are remote.
    private var isRemoteAsItsSession: Bool {
        guard case .known(let session) = facts[ChoiceField.session] else { return true }
        let isRemote = facts[.remote] == .absent ? Fact.known(false) : facts[.remote]
        switch ChoiceField.session.words[Int(session)] {
        case "ssh", "remote-desktop": return isRemote == .known(true)
        case "seat", "service": return isRemote == .known(false)
        default: return true
        }
    }

    /// An unlock is no program's, and of no item; nothing else is of a login or a protector.
    private var hasFactsOfItsOperation: Bool {
        guard operation == .unlock else {
            return facts[.pamService] == .absent && facts[.protector] == .absent
        }
        let texts = TextField.allCases.filter {
            ![.user, .group, .keychain, .host, .pamService].contains($0)
        }
        return texts.allSatisfy { facts[$0] == .absent || facts[$0] == .known([]) }
            && facts[.itemClass] == .absent && facts[.accessible] == .absent
            && [.absent, .known([])].contains(facts.flags)
            && facts[.session] != ChoiceField.session.index(of: "service").map { .known($0) }
            && facts[.trustedExe].isFalse && facts[.tty].isFalse
            && [.absent, .known(true)].contains(facts[.member])
    }
}

extension Fact<Bool> {
    fileprivate var isFalse: Bool { self == .absent || self == .known(false) }
}

extension PolicyGenerator {
    /// A request aimed at one of the rules that could be.
    mutating func possibleRequest(for policy: PolicySet) -> PolicyRequest {
        while true {
            let request = self.request(for: policy).plain
            if request.isPossible { return request }
        }
    }
}
