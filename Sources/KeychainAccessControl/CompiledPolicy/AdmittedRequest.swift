// SPDX-License-Identifier: Apache-2.0

/// A request in the numbers of one compiled policy. Making it reads texts; deciding it compares
/// integers. Another policy denies it.
public struct AdmittedRequest: Sendable {
    /// Of the policy that numbered the facts.
    let checksum: UInt64
    let operation: PolicyOperation
    let facts: AdmittedFacts
    let before: AdmittedFacts?
    /// Reading a key releases it too.
    let exports: Bool
    let mayAsk: Bool
    let day: Int32
    let item: ItemNeed

    /// What items' own access control comes to with the evidence.
    enum ItemNeed: UInt8 {
        case met, unmet, never
    }
}

/// Facts of one case, and the evidence: ascending places of each dimension's facts, the facts, and
/// four words for each proof.
struct AdmittedFacts: Sendable {
    let words: [UInt32]
    /// Dimensions that have a fact; that could not be established.
    let present: UInt64
    let unknown: UInt64
    /// What the request may be and what it is for certain.
    let strict: QuickFacts
    let loose: QuickFacts
    let isMember: Bool
    let isLetIn: Bool

    static let proofLength = 4
}

extension CompiledPolicy {
    /// The request in this policy's numbers.
    public func admit(_ request: PolicyRequest) -> AdmittedRequest {
        let cases = request.cases
        let before = request.operation == .update ? cases.dropFirst().first?.facts : nil
        let proofs = proofWords(request.evidence)
        let constraints = cases.map { item(constraint: $0.facts.constraint, $0.operation, request) }
        return AdmittedRequest(
            checksum: checksum, operation: request.operation,
            facts: admit(request.facts, proofs),
            before: before.map { admit($0, proofs) },
            exports: request.operation == .readSecret && cases.count > 1,
            mayAsk: PolicyCondition.boolean(.interactive, true).truth(of: request.facts) == .yes,
            day: request.day,
            item: constraints.max { $0.rawValue < $1.rawValue } ?? .met)
    }

    private func item(
        constraint: PolicyItemConstraint, _ operation: PolicyOperation, _ request: PolicyRequest
    ) -> AdmittedRequest.ItemNeed {
        if constraint == .never { return .never }
        let isMet = constraint.demand?.isMet(by: request.evidence, for: operation) ?? true
        return isMet ? .met : .unmet
    }

    private func admit(_ facts: PolicyFacts, _ proofs: [UInt32]) -> AdmittedFacts {
        var gatherer = FactGatherer()
        for field in TextField.allCases { gatherer.add(field, facts[field], image) }
        gatherer.add(Dimension.uid, facts.uid.atom { image.atom(of: Int64($0), .uid) })
        gatherer.add(Dimension.time, facts.time.atom { image.atom(of: Int64($0.value), .time) })
        gatherer.add(Dimension.operation, .absent)
        for field in ChoiceField.allCases {
            gatherer.add(Dimension.of(field), facts[field].atom { UInt32($0) })
        }
        for field in BooleanField.allCases {
            gatherer.add(Dimension.of(field), facts[field].or(field.whenAbsent).atom { $0 ? 1 : 0 })
        }
        for field in AgeField.allCases {
            let age = facts[field].atom {
                image.atom(of: $0.milliseconds, NumberDimension(field))
            }
            // No age at all is none that could be established.
            gatherer.add(Dimension.of(field), age == .absent ? .unknown : age)
        }
        if facts.time == .absent { gatherer.markUnknown(Dimension.time) }
        return AdmittedFacts(
            words: gatherer.words(proofs), present: gatherer.present, unknown: gatherer.unknown,
            strict: QuickFacts(facts, unknownHolds: true),
            loose: QuickFacts(facts, unknownHolds: false),
            isMember: PolicyCondition.boolean(.member, true).truth(of: facts) == .yes,
            isLetIn: facts.isLetIn)
    }

    /// Method, age in milliseconds (2), scope. A service that no rule names proves nothing.
    private func proofWords(_ evidence: [PolicyProof]) -> [UInt32] {
        evidence.flatMap { proof -> [UInt32] in
            guard let method = method(proof.method) else { return [] }
            let age = UInt64(bitPattern: proof.age.milliseconds)
            return [method] + PolicyCompilation.halves(age) + [UInt32(proof.scope.rawValue)]
        }
    }

    private func method(_ method: PolicyMethod) -> UInt32? {
        switch method {
        case .factor(let factor): return UInt32(factor.index)
        case .pam(let name):
            let services = 0..<image.count(.services)
            let found = services.first { image.text(.services, $0) == name }
            return found.map { ProofMethod.firstService + UInt32($0) }
        }
    }
}

/// How methods of proof are numbered: the factors, then the PAM services that rules name.
enum ProofMethod {
    static let firstService: UInt32 = 8
}

/// Collects the facts of a request, dimension by dimension.
private struct FactGatherer {
    private var words = [UInt32](repeating: 0, count: Dimension.count + 1)
    private(set) var present: UInt64 = 0
    private(set) var unknown: UInt64 = 0

    init() {
        words.reserveCapacity(3 * Dimension.count)
        words[0] = UInt32(words.count)
    }

    mutating func add(_ field: TextField, _ fact: Fact<[PolicyText]>, _ image: PolicyImage) {
        switch fact {
        case .absent: break
        case .known(let values):
            for value in values { image.addFacts(matching: value, field, to: &words) }
        case .unknown: markUnknown(Dimension.of(field))
        }
        close(Dimension.of(field))
    }

    /// `place` counts from 0.
    mutating func add(_ dimension: Int, _ place: Fact<UInt32>) {
        switch place {
        case .absent: break
        case .known(let place): words.append(Dimension.fact(dimension, place + 1))
        case .unknown: markUnknown(dimension)
        }
        close(dimension)
    }

    mutating func markUnknown(_ dimension: Int) { unknown |= 1 << UInt64(dimension) }

    private mutating func close(_ dimension: Int) {
        if words.count > words[dimension] { present |= 1 << UInt64(dimension) }
        words[dimension + 1] = UInt32(words.count)
    }

    func words(_ proofs: [UInt32]) -> [UInt32] { words + proofs }
}

extension Fact {
    fileprivate func atom(_ number: (Value) -> UInt32) -> Fact<UInt32> {
        switch self {
        case .absent: .absent
        case .known(let value): .known(number(value))
        case .unknown: .unknown
        }
    }

    fileprivate func or(_ value: Value) -> Fact { self == .absent ? .known(value) : self }
}
