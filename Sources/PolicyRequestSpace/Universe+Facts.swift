// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension Universe {
    /// The cell's requests with these groups and flags, and without facts that are said to be
    /// unknown.
    package func fix(_ cell: Cell, to facts: PolicyFacts) -> Cell {
        var cells = [cell]
        for axis in axes {
            switch axis.subject {
            case .group(let number):
                guard case .known(let texts) = facts[.group] else { continue }
                let own = groupClasses[number].matches
                let isIn = texts.contains { text in
                    Set(groupPatterns.filter { $0.key.matches(text) }.map(\.value)) == own
                }
                keep(&cells, axis.subject) {
                    if case .group(_, isIn) = $0 { true } else { false }
                }
            case .flag(let bit):
                guard case .known(let flags) = facts.flags else { continue }
                let isSet = flags.rawValue & 1 << bit != 0
                keep(&cells, axis.subject) {
                    if case .flag(_, isSet) = $0 { true } else { false }
                }
            default: break
            }
            if let isUnknown = facts.tellsUnknown(axis.subject) {
                keep(&cells, axis.subject) { $0.isUnknown == isUnknown }
            }
        }
        return cells.first ?? cell
    }

    /// The common restriction of the cells, field by field.
    package func hull(of cells: [Cell]) -> [AreaField] {
        guard let first = cells.first else { return [] }
        return fields(of: cells.reduce(first) { $0.hull($1) })
    }
}

extension PolicyFacts {
    /// Whether the fact is said to be unknown; nil where nothing is said of it.
    fileprivate func tellsUnknown(_ subject: Universe.Subject) -> Bool? {
        switch subject {
        case .uid: uid.tellsUnknown
        case .time: time.tellsUnknown
        case .date: date.tellsUnknown
        case .groups: self[.group].tellsUnknown
        case .flags: flags.tellsUnknown
        case .text(let field): self[field].tellsUnknown
        case .choice(let field): self[field].tellsUnknown
        case .boolean(let field): self[field].tellsUnknown
        case .age(let field): self[field].tellsUnknown
        case .operation, .group, .flag: nil
        }
    }
}

extension Fact {
    fileprivate var tellsUnknown: Bool? {
        switch self {
        case .absent: nil
        case .known: false
        case .unknown: true
        }
    }
}
