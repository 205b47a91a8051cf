// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension Universe {
    /// The facts that the values stand for.
    static func facts(of values: [Value]) -> PolicyFacts {
        var facts = PolicyFacts()
        var groups: [PolicyText] = []
        var flags: PolicyItemFlags = []
        var unknown: [Subject] = []
        for value in values {
            switch value {
            case .text(let field, let text?): facts[field] = .known([text])
            case .otherText(let field, let text): facts[field] = .known([text])
            case .group(let text, true): groups.append(text)
            case .uid(let uid?): facts.uid = .known(uid)
            case .time(let minute): facts.time = .known(minute)
            case .date(let day): facts.date = .known(day)
            case .choice(let field, let value?): facts[field] = .known(value)
            case .boolean(let field, let value):
                if value != field.whenAbsent { facts[field] = .known(value) }
            case .age(let field, let age): facts[field] = .known(age)
            case .flag(let flag, true): flags.formUnion(flag)
            case .unknown(let subject): unknown.append(subject)
            case .operation, .text, .group, .uid, .choice, .flag, .groupsAreKnown,
                .flagsAreKnown:
                break
            }
        }
        if !groups.isEmpty { facts[.group] = .known(groups) }
        if !flags.isEmpty { facts.flags = .known(flags) }
        for subject in unknown { facts.hide(subject) }
        return facts
    }

    /// A request of the cell, with facts unknown only where they must be.
    package func witness(of cell: Cell, day: Int32) -> PolicyRequest {
        let values = axes.compactMap { axis in
            numbers(of: axis, in: cell).first.map { axis.values[$0] }
        }
        var operation = PolicyOperation.readSecret
        for case .operation(let own) in values { operation = own }
        var facts = Self.facts(of: values)
        // An absent age or time would count as unknown.
        for field in AgeField.allCases where facts[field] == .absent {
            facts[field] = .known(.zero)
        }
        if facts.time == .absent, let monday = MinuteOfWeek(0) { facts.time = .known(monday) }
        facts.completeSubject(bySubject[.text(.unit)] == nil, bySubject[.text(.exe)] == nil)
        return PolicyRequest(operation, facts: facts, day: day)
    }
}

extension PolicyFacts {
    fileprivate mutating func hide(_ subject: Universe.Subject) {
        switch subject {
        case .uid: uid = .unknown
        case .time: time = .unknown
        case .date: date = .unknown
        case .groups: self[.group] = .unknown
        case .flags: flags = .unknown
        case .text(let field): self[field] = .unknown
        case .choice(let field): self[field] = .unknown
        case .boolean(let field): self[field] = .unknown
        case .age(let field): self[field] = .unknown
        case .operation, .group, .flag: break
        }
    }

    /// Adds facts that no rule asks for and that can't be absent.
    fileprivate mutating func completeSubject(_ mayNameUnit: Bool, _ mayNameExe: Bool) {
        let service = ChoiceField.session.index(of: "service")
        if mayNameUnit, let service, self[ChoiceField.session] == .known(service) {
            self[.unit] = TextField.unit.example(besides: []).map { .known([$0]) } ?? .absent
        }
        if mayNameExe, self[.trustedExe] == .known(true) {
            self[.exe] = TextField.exe.example(besides: []).map { .known([$0]) } ?? .absent
        }
    }
}
