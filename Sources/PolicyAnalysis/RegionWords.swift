// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

extension Universe {
    /// What the cell says of each field that it says anything of.
    func words(for cell: Cell) -> [String] {
        axes.compactMap { axis in
            let values = values(of: axis, in: cell)
            guard values.count < axis.values.count, !isSaidByOthers(axis, in: cell)
            else { return nil }
            guard case .flag(let bit) = axis.subject else {
                let isOneLess = values.count == axis.values.count - 1 && values.count > 1
                if isOneLess, axis.values.last?.isUnknown == true,
                    values.last?.isUnknown == false
                {
                    return name(of: axis.subject) + ": not unknown"
                }
                return name(of: axis.subject) + ": "
                    + values.map(Self.word).joined(separator: ", ")
            }
            let has = values.contains { if case .flag(_, true) = $0 { true } else { false } }
            return "resource.flags: " + (has ? "" : "not ") + PolicyItemFlags.words[Int(bit)]
        }
    }

    /// Whether the cell leaves out no operation but those that don't have its other facts.
    private func isSaidByOthers(_ axis: Axis, in cell: Cell) -> Bool {
        guard axis.subject == .operation else { return false }
        var rest = cell
        for word in axis.place.first...axis.place.last {
            rest.words[word] = everything.words[word] & ~cell.words[word]
        }
        return impossible.reduce([rest]) { left, own in
            left.flatMap { algebra.subtract(own, from: $0) }
        }.isEmpty
    }

    private func name(of subject: Subject) -> String {
        switch subject {
        case .operation: "operation"
        case .uid: "subject.uid"
        case .time: "when.time"
        case .text(let field): Self.path(field)
        case .group, .groups: "subject.group"
        case .choice(let field): Self.path(field)
        case .boolean(let field): Self.path(field)
        case .age(let field): Self.path(field)
        case .flag, .flags: "resource.flags"
        }
    }

    private static func path(_ field: some PolicyField) -> String {
        field.block.rawValue + "." + field.name
    }

    /// The value that stands for all that are told from it by nothing.
    private static func word(_ value: Value) -> String {
        switch value {
        case .operation(let operation): operation.rawValue
        case .text(let field, let text):
            text?.string ?? (field.isTiedToOthers ? "none" : "other")
        case .otherText: "other"
        case .unknown: "unknown"
        case .groupsAreKnown, .flagsAreKnown: "known"
        case .group(let text, let isIn): (isIn ? "" : "not ") + text.string
        case .uid(let uid): uid.map { "from \($0)" } ?? "none"
        case .time(let minute): "from " + word(minute)
        case .choice(let field, let value): value.map { field.words[Int($0)] } ?? "none"
        case .boolean(_, let value): "\(value)"
        case .age(_, let age): "from \(age)"
        case .flag(let flag, let isSet): "\(isSet) \(flag.rawValue)"
        }
    }

    private static func word(_ minute: MinuteOfWeek) -> String {
        let day = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][
            minute.value / MinuteOfWeek.perDay]
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let ofDay = minute.value % MinuteOfWeek.perDay
        return "\(day) \(two(ofDay / 60)):\(two(ofDay % 60))"
    }
}
