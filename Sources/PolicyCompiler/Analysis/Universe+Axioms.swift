// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

// What never occurs together, however a program is made: so that what is shown is a request that
// could be. Only what the keychain service itself ensures is taken for granted; a login may well be
// in a system unit, and which uid an account has is the machine's affair.

extension Universe {
    /// - The session `service` is that of a process in a system unit.
    /// - What is known to be a trusted executable is known.
    /// - Items have the attributes of their class.
    var axioms: [Cell] {
        var cells = [
            cell([
                (.choice(.session), { $0.isChoice(["service"]) }),
                (.text(.unit), { !$0.isKnownText }),
            ]),
            cell([
                (.boolean(.trustedExe), { if case .boolean(_, true) = $0 { true } else { false } }),
                (.text(.exe), { !$0.isKnownText }),
            ]),
        ]
        for field in TextField.allCases {
            guard let classes = field.classes else { continue }
            let others = ChoiceField.itemClass.words.filter { !classes.contains($0) }
            cells.append(
                cell([
                    (.choice(.itemClass), { $0.isChoice(others) }),
                    (.text(field), { $0.isText }),
                ]))
        }
        return cells.compactMap(\.self)
    }

    /// nil where the universe tells nothing of one of the facts.
    private func cell(_ parts: [(Subject, (Value) -> Bool)]) -> Cell? {
        var cells = [everything]
        for (subject, isKept) in parts {
            guard bySubject[subject] != nil else { return nil }
            keep(&cells, subject, isKept)
        }
        return cells.first { !algebra.isEmpty($0) }
    }

    /// The cell without what can't be, as cells that don't meet.
    func possible(
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

    fileprivate var isKnownText: Bool {
        switch self {
        case .text(_, _?), .otherText: true
        default: false
        }
    }

    /// There is one, whether or not it could be told.
    fileprivate var isText: Bool {
        if case .unknown = self { true } else { isKnownText }
    }
}

extension TextField {
    /// The classes whose items have the attribute; nil where all have.
    fileprivate var classes: [String]? {
        switch self {
        case .service: ["generic-password"]
        case .server, .networkProtocol: ["internet-password"]
        case .account: ["generic-password", "internet-password"]
        default: nil
        }
    }

    /// Whether an axiom tells its being there from its being absent.
    var isTiedToOthers: Bool { classes != nil || self == .exe || self == .unit }

    /// A text as such fields have them, that none of the conditions matches.
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
