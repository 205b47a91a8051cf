// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// All requests with one of the given values in each field.
package struct RequestArea: Sendable {
    private let universe: Universe
    private let cell: Cell
    private let day: Int32
    /// The fields that the area restricts.
    package let fields: [AreaField]

    package init(_ universe: Universe, _ cell: Cell, day: Int32) {
        self.universe = universe
        self.cell = cell
        self.day = day
        fields = universe.fields(of: cell)
        words =
            fields.isEmpty
            ? "any request"
            : fields.map { "\($0.name): \($0.shown)" }.joined(separator: "; ")
    }

    /// `operation: sign; subject.user: ann`, with each field shortened.
    package let words: String

    /// A request as an example of the decision.
    package var example: PolicyRequest {
        let possible = universe.impossible.reduce([cell]) { left, own in
            left.flatMap { universe.algebra.subtract(own, from: $0) }
        }
        return universe.witness(of: possible.first ?? cell, day: day)
    }

    /// A random request of the area; nil where all tries gave facts that can't occur together.
    package func request(using random: inout some RandomNumberGenerator) -> PolicyRequest? {
        for _ in 0..<Self.mostTries {
            var point = cell
            for axis in universe.axes {
                let numbers = universe.numbers(of: axis, in: cell)
                guard let number = numbers.randomElement(using: &random) else { return nil }
                for word in axis.place.first...axis.place.last { point.words[word] = 0 }
                point.words[axis.place.first + number / 64] = 1 << UInt64(number % 64)
            }
            let isPossible = universe.impossible.allSatisfy {
                !universe.algebra.contains($0, point)
            }
            guard isPossible else { continue }
            var request = universe.witness(of: point, day: day)
            vary(&request.facts, point, &random)
            return request
        }
        return nil
    }

    private static let mostTries = 8

    /// Replaces each value by a random one of the values that it stands for.
    private func vary(
        _ facts: inout PolicyFacts, _ point: Cell, _ random: inout some RandomNumberGenerator
    ) {
        for axis in universe.axes {
            guard let number = universe.numbers(of: axis, in: point).first else { continue }
            func pick(_ spans: [[ClosedRange<Int64>]]) -> Int64? {
                guard spans.indices.contains(number) else { return nil }
                return spans[number].randomElement(using: &random).map {
                    .random(in: $0, using: &random)
                }
            }
            switch axis.subject {
            case .text(let field):
                if number == 0, field.isTiedToOthers { continue }
                guard
                    let text = universe.texts[field]?.texts(of: [number])
                        .randomElement(using: &random)
                else { continue }
                if number > 0 || Bool.random(using: &random), !axis.values[number].isUnknown {
                    facts[field] = .known([text])
                }
            case .uid:
                if let uid = pick(universe.uids) { facts.uid = .known(UInt32(clamping: uid)) }
            case .time:
                if let minute = pick(universe.minutes).flatMap({ MinuteOfWeek(Int($0)) }) {
                    facts.time = .known(minute)
                }
            case .date:
                if let day = pick(universe.days) { facts.date = .known(Int32(clamping: day)) }
            case .age(let field):
                if let age = pick(universe.ages[field] ?? []) {
                    facts[field] = .known(PolicyDuration(milliseconds: age))
                }
            default: continue
            }
        }
    }
}
