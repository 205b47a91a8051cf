// SPDX-License-Identifier: Apache-2.0
// Facts that never occur together, however a program is made, so that a shown request is a possible
// one. Only facts that the keychain service itself ensures count: a login may well be in a system
// unit, and an account's uid is the machine's choice.
package import KeychainPolicyModel

extension Universe {
    /// - The session `service` is that of a process in a system unit.
    /// - Whether a session is a remote one follows from its kind.
    /// - Where `trusted-exe` is true, the executable's path is known.
    /// - Items have the attributes of their class.
    /// - A request has the facts of its operation.
    /// - Where groups or flags are unknown, none of them is known by itself.
    var axioms: [Cell] {
        var cells = [
            cell([
                (.choice(.session), { $0.isChoice(["service"]) }),
                (.text(.unit), { !$0.isKnownText }),
            ]),
            cell([
                (.choice(.session), { $0.isChoice(["service"]) }),
                (.operation, { !$0.isOperation(of: .onItems) }),
            ]),
            cell([
                (.boolean(.trustedExe), { $0.isBoolean(true) }),
                (.text(.exe), { !$0.isKnownText }),
            ]),
        ]
        for (mask, isRemote) in [
            (ChoiceField.remoteSessions, true), (ChoiceField.localSessions, false),
        ] {
            cells.append(
                cell([
                    (.choice(.session), { $0.isSession(mask) }),
                    (.boolean(.remote), { !$0.isBoolean(isRemote) }),
                ]))
        }
        for field in TextField.allCases {
            guard let classes = field.classes else { continue }
            let others = ChoiceField.itemClass.words.filter { !classes.contains($0) }
            cells.append(
                cell([
                    (.choice(.itemClass), { $0.isChoice(others) }),
                    (.text(field), { $0.isText }),
                ]))
        }
        for (subject, operations) in Self.limited {
            cells.append(
                cell([
                    (.operation, { !$0.isOperation(of: operations) }),
                    (subject, { !$0.isAbsent }),
                ]))
        }
        for axis in axes {
            guard let whole = axis.subject.whole else { continue }
            cells.append(cell([(whole, { $0.isUnknown }), (axis.subject, { $0.isPresent })]))
        }
        return cells.compactMap(\.self)
    }

    /// Facts that only requests of some operations can have.
    private static let limited: [(Subject, PolicyOperations)] = {
        let texts = TextField.allCases.map { (Subject.text($0), $0.operations) }
        let choices = ChoiceField.allCases.map { (Subject.choice($0), $0.operations) }
        let booleans = BooleanField.allCases.map { (Subject.boolean($0), $0.operations) }
        let flags = [Subject.flags] + (UInt8(0)..<8).map(Subject.flag)
        return (texts + choices + booleans + flags.map { ($0, .onItems) }).filter {
            $0.1 != .all
        }
    }()

    /// nil where the universe lacks one of the facts.
    private func cell(_ parts: [(Subject, (Value) -> Bool)]) -> Cell? {
        var cells = [everything]
        for (subject, isKept) in parts {
            guard bySubject[subject] != nil else { return nil }
            keep(&cells, subject, isKept)
        }
        return cells.first { !algebra.isEmpty($0) }
    }

    /// The cell without impossible requests, as disjoint cells.
    package func possible(
        _ cell: Cell, _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        try algebra.subtract(impossible, from: [cell], &budget)
    }
}

extension Universe.Value {
    fileprivate func isChoice(_ words: [String]) -> Bool {
        guard case .choice(let field, let value?) = self else { return false }
        return words.contains(field.words[Int(value)])
    }

    fileprivate func isSession(_ mask: UInt8) -> Bool {
        if case .choice(.session, let value?) = self { mask & 1 << value != 0 } else { false }
    }

    fileprivate func isBoolean(_ value: Bool) -> Bool {
        if case .boolean(_, value) = self { true } else { false }
    }

    fileprivate var isKnownText: Bool {
        switch self {
        case .text(_, _?), .otherText: true
        default: false
        }
    }

    /// Whether the value says that the group or flag is there.
    var isPresent: Bool {
        switch self {
        case .group(_, true), .flag(_, true): true
        default: false
        }
    }

    fileprivate func isOperation(of operations: PolicyOperations) -> Bool {
        if case .operation(let own) = self { operations.contains(own) } else { false }
    }

    /// Whether a request without the fact has this value.
    fileprivate var isAbsent: Bool {
        switch self {
        case .text(_, nil), .choice(_, nil), .flagsAreKnown, .flag(_, false): true
        case .boolean(let field, let value): value == field.whenAbsent
        default: false
        }
    }

    /// Whether there is a text, known or not.
    fileprivate var isText: Bool {
        if case .unknown = self { true } else { isKnownText }
    }
}

extension PolicyOperations {
    /// The operations of a program on an item. An `unlock` is a user's on a keychain.
    static let onItems = PolicyOperations.all.subtracting(PolicyOperations(.unlock))
}

extension PolicyCondition {
    /// The operations whose requests can have the fact.
    package var operations: PolicyOperations {
        switch self {
        case .text(let field, _): field.operations
        case .choice(let field, _): field.operations
        case .boolean(let field, _): field.operations
        case .flags: .onItems
        case .uid, .age, .time, .date: .all
        }
    }
}

extension TextField {
    fileprivate var operations: PolicyOperations {
        switch self {
        case .user, .group, .keychain, .host: .all
        case .exe, .digest, .unit, .slice, .userUnit, .app, .label, .service, .account, .server,
            .networkProtocol, .accessGroup, .itemLabel, .creator, .schema:
            .onItems
        case .pamService: PolicyOperations(.unlock)
        }
    }
}

extension ChoiceField {
    fileprivate var operations: PolicyOperations {
        switch self {
        case .session: .all
        case .itemClass, .accessible, .via, .transfer: .onItems
        case .protector: PolicyOperations(.unlock)
        }
    }
}

extension BooleanField {
    fileprivate var operations: PolicyOperations {
        switch self {
        case .trustedExe, .tty, .member: .onItems
        case .remote, .active, .screenLocked, .unlocked, .passcodeSet, .interactive, .prompted:
            .all
        }
    }
}

extension TextField {
    /// The classes whose items have the attribute; nil where all have it.
    fileprivate var classes: [String]? {
        switch self {
        case .service: ["generic-password"]
        case .server, .networkProtocol: ["internet-password"]
        case .account: ["generic-password", "internet-password"]
        case .schema: ["attributed"]
        default: nil
        }
    }

    /// Whether an axiom depends on its presence.
    var isTiedToOthers: Bool { classes != nil || self == .exe || self == .unit }

    /// A typical text of such a field that none of the conditions matches.
    func example(besides conditions: [PolicyCondition]) -> PolicyText? {
        let text: PolicyText
        switch self {
        case .exe: text = "/usr/bin/another"
        case .unit: text = "another.service"
        case .server: text = "another.example"
        case .networkProtocol: text = "nntp"
        default: text = "another"
        }
        let isNamed = conditions.contains { condition in
            guard case .text(_, let patterns) = condition else { return false }
            return patterns.contains { $0.matches(text) }
        }
        return isNamed ? nil : text
    }
}
