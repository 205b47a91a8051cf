// SPDX-License-Identifier: Apache-2.0
// Small changes that mostly let more through: the mistakes that a test should catch. Each changes
// one part of a match.
internal import KeychainPolicyModel

/// A changed value and the change in words; a nil value means removed.
struct Mutation<Value> {
    let words: String
    let value: Value

    init(_ words: String, _ value: Value) {
        self.words = words
        self.value = value
    }

    func map<Other>(_ change: (Value) -> Other) -> Mutation<Other> {
        Mutation<Other>(words, change(value))
    }

    func inside(_ place: String) -> Self { Self("\(place): \(words)", value) }
}

extension PolicyRule {
    var mutations: [Mutation<PolicyRule?>] {
        // Decisions don't count limits.
        if case .limit = effect { return [] }
        return [Mutation("removed", nil)]
            + match.mutations.map {
                $0.map { match in
                    var copy = self
                    copy.match = match
                    return copy
                }
            }
            + effect.mutations(of: match.box.operations).map {
                $0.map { effect in
                    var copy = self
                    copy.effect = effect
                    return copy
                }
            }
    }
}

extension ClosedScope {
    var mutations: [Mutation<ClosedScope?>] {
        [Mutation("removed", nil)]
            + match.mutations.map {
                $0.map { match in
                    var copy = self
                    copy.match = match
                    return copy
                }
            }
    }
}

extension GroupMembership {
    var mutations: [Mutation<GroupMembership?>] {
        func with(_ members: [[PolicyCondition]]) -> GroupMembership? {
            var copy = self
            copy.members = members
            return copy
        }
        var found = [Mutation<GroupMembership?>("removed", nil)]
        found.append(Mutation("any program made a member", with([[]])))
        if operations != .all {
            var copy = self
            copy.operations = .all
            found.append(Mutation("mode: read made write", copy))
        }
        for (place, member) in members.enumerated() {
            let name = members.count > 1 ? "members[\(place)]: " : ""
            if members.count > 1 {
                var fewer = members
                fewer.remove(at: place)
                found.append(Mutation("members[\(place)] removed", with(fewer)))
            }
            for change in member.mutations {
                var others = members
                others[place] = change.value
                found.append(Mutation(name + change.words, with(others)))
            }
        }
        return found
    }
}

extension PolicyMatch {
    fileprivate var mutations: [Mutation<PolicyMatch>] {
        var found = box.mutations.map { $0.map { PolicyMatch($0, unless: exceptions) } }
        for (place, exception) in exceptions.enumerated() {
            let name = "unless[\(place)]"
            var fewer = self
            fewer.exceptions.remove(at: place)
            found.append(Mutation("\(name) dropped", fewer))
            for change in exception.mutations {
                var changed = self
                changed.exceptions[place] = change.value
                found.append(Mutation(change.words, changed).inside(name))
            }
        }
        return found
    }
}

extension PolicyBox {
    fileprivate var mutations: [Mutation<PolicyBox>] {
        (operations == .all ? [] : [Mutation("operations dropped", PolicyBox(conditions))])
            + conditions.mutations.map { $0.map { PolicyBox(operations: operations, $0) } }
    }
}

extension [PolicyCondition] {
    fileprivate var mutations: [Mutation<[PolicyCondition]>] {
        enumerated().flatMap { place, condition -> [Mutation<[PolicyCondition]>] in
            var fewer = self
            fewer.remove(at: place)
            return [Mutation("\(condition.fieldName) dropped", fewer)]
                + condition.widened.map { change in
                    var others = self
                    others[place] = change.value
                    return Mutation("\(condition.fieldName) \(change.words)", others)
                }
        }
    }
}

extension PolicyCondition {
    fileprivate var widened: [Mutation<PolicyCondition>] {
        switch self {
        case .text(let field, let patterns):
            return patterns.enumerated().compactMap { place, pattern in
                guard case .literal(let text) = pattern else { return nil }
                var wider = patterns
                wider[place] = .prefix(text)
                return Mutation("widened to \(wider[place])", .text(field, wider))
            }
        case .age(let field, let range):
            let (low, high) = (range.lowerBound, range.upperBound.milliseconds)
            let twice = high.multipliedReportingOverflow(by: 2)
            let longer = PolicyDuration(milliseconds: twice.partialValue)
            return
                (low > .zero
                ? [Mutation("min dropped", .age(field, .zero...range.upperBound))] : [])
                + (twice.overflow || high == 0
                    ? [] : [Mutation("max made \(longer)", .age(field, low...longer))])
        case .time(let windows, let outside):
            return windows.enumerated().flatMap { place, window in
                window.widened.map { change in
                    var wider = windows
                    wider[place] = change.value
                    return Mutation(change.words, .time(wider, outside: outside))
                }
            }
        case .date(let days):
            let (first, last) = (days.lowerBound, days.upperBound)
            return
                (first == .min ? [] : [Mutation("a day earlier", .date(first - 1...last))])
                + (last == .max ? [] : [Mutation("a day longer", .date(first...last + 1))])
        case .uid, .choice, .boolean, .flags: return []
        }
    }
}

extension WeekWindow {
    fileprivate var widened: [Mutation<WeekWindow>] {
        let hour = 60
        let wider: [(String, WeekWindow?)] = [
            ("on every day", days == Self.everyDay ? nil : WeekWindow(from: start, to: end)),
            (
                "an hour earlier",
                start < hour || start - hour == end
                    ? nil : WeekWindow(days: days, from: start - hour, to: end)
            ),
            (
                "an hour longer",
                end + hour > MinuteOfWeek.perDay || end + hour == start
                    ? nil : WeekWindow(days: days, from: start, to: end + hour)
            ),
        ]
        return wider.compactMap { words, window in window.map { Mutation(words, $0) } }
    }
}

extension PolicyEffect {
    fileprivate func mutations(of operations: PolicyOperations) -> [Mutation<PolicyEffect>] {
        switch self {
        case .permit(let reason): return [Mutation("permit made forbid", .forbid(reason))]
        case .forbid(let reason): return [Mutation("forbid made permit", .permit(reason))]
        case .share(let reason): return [Mutation("share made forbid", .forbid(reason))]
        case .require(let demand):
            return [Mutation("require made forbid", .forbid(""))]
                + demand.mutations(of: operations).map { $0.map { .require($0) } }
        case .audit(let level):
            return [Mutation("audit level changed", .audit(level == .full ? .decision : .full))]
        case .redact(let names):
            guard names.count > 1 else { return [] }
            return names.indices.map { place in
                var fewer = names
                fewer.remove(at: place)
                return Mutation("\(names[place].shown) shown", .redact(fewer))
            }
        case .limit: return []
        }
    }
}

extension PolicyDemand {
    fileprivate func mutations(of operations: PolicyOperations) -> [Mutation<PolicyDemand>] {
        var found = constraint.weakened.map { change in
            change.map { PolicyDemand($0, within: within, scope: scope) }
        }
        // Export and change-acl need a fresh proof whatever the policy says.
        let bounded = PolicyOperations([.init(.export), .init(.changeACL)])
        if !operations.isSubset(of: bounded) {
            let longer = within == .zero ? .minutes(1) : within * 2
            let longest = scope.longest ?? PolicyDuration(milliseconds: .max)
            let ages =
                (within > .zero ? [.zero] : []) + (within < longest ? [min(longer, longest)] : [])
            found += ages.map { age in
                Mutation(
                    "within made \(age == .zero ? "0s" : "\(age)")",
                    PolicyDemand(constraint, within: age, scope: scope))
            }
        }
        if let wider = Freshness.allCases.first(where: { $0 > scope }) {
            found.append(
                Mutation(
                    "scope made \(wider.word)",
                    PolicyDemand(constraint, within: within, scope: wider)))
        }
        return found
    }
}

extension PolicyDuration {
    fileprivate static func * (duration: Self, factor: Int64) -> Self {
        let (product, overflow) = duration.milliseconds.multipliedReportingOverflow(by: factor)
        return Self(milliseconds: overflow ? .max : product)
    }
}

extension PolicyConstraint {
    /// The same constraint with one fewer of its parts needed, here or in a part.
    fileprivate var weakened: [Mutation<PolicyConstraint>] {
        func inside(
            _ parts: [PolicyConstraint], _ make: ([PolicyConstraint]) -> PolicyConstraint
        ) -> [Mutation<PolicyConstraint>] {
            parts.enumerated().flatMap { place, part in
                part.weakened.map { change in
                    change.map { weaker in
                        var others = parts
                        others[place] = weaker
                        return make(others)
                    }
                }
            }
        }
        switch self {
        case .factor, .pam: return []
        case .any(let parts): return inside(parts) { .any($0) }
        case .all(let parts):
            let any = Mutation("all made any", PolicyConstraint.any(parts))
            return (parts.count > 1 ? [any] : []) + inside(parts) { .all($0) }
        case .atLeast(let count, let parts):
            let fewer = Mutation(
                "k made \(count - 1)", PolicyConstraint.atLeast(count - 1, of: parts))
            return (count > 1 ? [fewer] : []) + inside(parts) { .atLeast(count, of: $0) }
        }
    }
}
