// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// A request in the numbers of one compiled policy. Making it compares texts; deciding it compares
/// integers. Any other policy denies it.
public struct AdmittedRequest: Sendable {
    /// The checksum of the policy that numbered the facts.
    let checksum: UInt64
    let operation: PolicyOperation
    let facts: AdmittedFacts
    /// For an update, the item before it; else empty.
    let before: [AdmittedFacts]
    /// Whether the read also releases a key.
    let exports: Bool
    let mayAsk: Bool
    let day: Int32
    let item: ItemNeed

    /// The result of items' own access control with the evidence.
    enum ItemNeed: UInt8 {
        case met, unmet, never

        init(
            _ constraint: PolicyItemConstraint, _ evidence: [PolicyProof],
            for operation: PolicyOperation
        ) {
            self =
                switch constraint {
                case .none: .met
                case .never: .never
                case .needs(let needs):
                    PolicyDemand(needs).isMet(by: evidence, for: operation) ? .met : .unmet
                }
        }

        func and(_ other: Self) -> Self { rawValue < other.rawValue ? other : self }
    }
}

/// Facts of one case, and the evidence: where each dimension's facts begin, where the last ones end
/// and the proofs do, the facts, and four words for each proof.
struct AdmittedFacts: Sendable {
    let words: FactWords
    /// Dimensions that have a fact, and those whose fact is unknown.
    let present: UInt64
    let unknown: UInt64
    /// The masks of what the request may be, and of what it is for certain.
    let strict: FactMasks
    let loose: FactMasks
    let isMember: Bool
    let isLetIn: Bool

    static let proofLength = 4
    /// The place of the end of the proofs.
    static let proofEnd = Dimension.count + 1
}

extension CompiledPolicy {
    /// The request in this policy's numbers.
    public func admit(_ request: PolicyRequest) -> AdmittedRequest {
        let cases = request.cases
        let before = request.operation == .update ? cases.dropFirst() : []
        return AdmittedRequest(
            checksum: checksum, operation: request.operation,
            facts: admit(request.facts, request.evidence, request.day),
            before: before.map { admit($0.facts, request.evidence, request.day) },
            exports: request.operation == .readSecret && cases.count > 1,
            mayAsk: request.facts.isTrue(.interactive), day: request.day,
            item: cases.reduce(.met) {
                $0.and(.init($1.facts.constraint, request.evidence, for: $1.operation))
            })
    }

    /// Admits facts without an item's texts, together with an item; the subject's texts may have
    /// been numbered before. Allocates no memory.
    public func admit(
        _ operation: PolicyOperation, _ facts: PolicyFacts, numbered: NumberedTexts?,
        of item: PolicyItem, evidence: [PolicyProof], day: Int32
    ) -> AdmittedRequest {
        let exports = operation == .readSecret && facts[.itemClass].mayBe(ChoiceField.keyClass)
        let need = AdmittedRequest.ItemNeed(facts.constraint, evidence, for: operation)
        var numbering = FactNumbering()
        if let numbered, numbered.hold(for: facts, under: self) {
            var place = 0
            add(item, to: &numbering) { numbering, field in
                numbering.add(field, numbered, place)
                place += 1
            }
            numbering.markUnknown(all: numbered.unknown)
        } else {
            add(item, to: &numbering) { $0.add($1, facts[$1], image) }
        }
        return AdmittedRequest(
            checksum: checksum, operation: operation,
            facts: finish(&numbering, facts, evidence, day), before: [], exports: exports,
            mayAsk: facts.isTrue(.interactive), day: day,
            item: exports ? need.and(.init(facts.constraint, evidence, for: .export)) : need)
    }

    private func admit(
        _ facts: PolicyFacts, _ evidence: [PolicyProof], _ day: Int32
    ) -> AdmittedFacts {
        var numbering = FactNumbering()
        for dimension in 0..<Dimension.uid {
            guard let field = TextField(rawValue: UInt8(dimension)) else { continue }
            numbering.add(field, facts[field], image)
        }
        return finish(&numbering, facts, evidence, day)
    }

    /// Adds all texts in the order of their fields: the item's, and by `addSubject` the others.
    private func add(
        _ item: PolicyItem, to numbering: inout FactNumbering,
        _ addSubject: (inout FactNumbering, TextField) -> Void
    ) {
        for dimension in 0..<Dimension.uid {
            guard let field = TextField(rawValue: UInt8(dimension)) else { continue }
            if field.block == .resource {
                numbering.add(field, asked.contains(field) ? item.text(field) : nil, image)
            } else {
                addSubject(&numbering, field)
            }
        }
    }

    /// Adds the facts that are no texts, and the evidence.
    private func finish(
        _ numbering: inout FactNumbering, _ facts: PolicyFacts, _ evidence: [PolicyProof],
        _ day: Int32
    ) -> AdmittedFacts {
        numbering.add(Dimension.uid, facts.uid.atom { image.atom(of: Int64($0), .uid) })
        numbering.add(Dimension.time, facts.time.atom { image.atom(of: Int64($0.value), .time) })
        if case .absent = facts.time { numbering.markUnknown(Dimension.time) }
        numbering.add(Dimension.operation, .absent)
        for place in 0..<UInt8(Dimension.firstBoolean - Dimension.firstChoice) {
            guard let field = ChoiceField(rawValue: place) else { continue }
            numbering.add(Dimension.of(field), facts[field].atom { UInt32($0) })
        }
        for place in 0..<UInt8(Dimension.firstAge - Dimension.firstBoolean) {
            guard let field = BooleanField(rawValue: place) else { continue }
            let fact = facts[field].or(field.whenAbsent)
            numbering.add(Dimension.of(field), fact.atom { $0 ? 1 : 0 })
        }
        for place in 0..<UInt8(Dimension.date - Dimension.firstAge) {
            guard let field = AgeField(rawValue: place) else { continue }
            let age = facts[field].atom {
                image.atom(of: $0.milliseconds, NumberDimension(field))
            }
            // An absent age counts as unknown.
            if case .absent = age {
                numbering.add(Dimension.of(field), .unknown)
            } else {
                numbering.add(Dimension.of(field), age)
            }
        }
        let date = facts.date.or(day).atom { image.atom(of: Int64($0), .date) }
        numbering.add(Dimension.date, image.names(.date) ? date : .absent)
        for proof in evidence { numbering.add(proof, number(of: proof.method)) }
        return AdmittedFacts(
            words: numbering.words, present: numbering.present, unknown: numbering.unknown,
            strict: FactMasks(facts, unknownHolds: true),
            loose: FactMasks(facts, unknownHolds: false),
            isMember: facts.isTrue(.member),
            isLetIn: facts.isLetIn)
    }

    /// nil for a PAM service that no rule names, which proves nothing.
    private func number(of method: PolicyMethod) -> UInt32? {
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
private struct FactNumbering {
    private(set) var words = FactWords(count: Dimension.count + 2)
    private(set) var present: UInt64 = 0
    private(set) var unknown: UInt64 = 0
    /// The start of the facts of the present dimension.
    private var start: Int

    init() {
        start = words.count
        words[0] = UInt32(start)
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

    /// A text of an item.
    mutating func add(_ field: TextField, _ text: PolicyText?, _ image: PolicyImage) {
        if let text { image.addFacts(matching: text, field, to: &words) }
        close(Dimension.of(field))
    }

    /// A fact of the subject, at that place among the numbered texts.
    mutating func add(_ field: TextField, _ numbered: NumberedTexts, _ place: Int) {
        numbered.add(place, to: &words)
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

    /// Method, age in milliseconds (2), scope. To be added last.
    mutating func add(_ proof: PolicyProof, _ method: UInt32?) {
        guard let method else { return }
        let age = UInt64(bitPattern: proof.age.milliseconds)
        words.append(method)
        words.append(UInt32(truncatingIfNeeded: age))
        words.append(UInt32(truncatingIfNeeded: age >> 32))
        words.append(UInt32(proof.scope.rawValue))
        words[AdmittedFacts.proofEnd] = UInt32(words.count)
    }

    mutating func markUnknown(_ dimension: Int) { unknown |= 1 << UInt64(dimension) }

    mutating func markUnknown(all dimensions: UInt64) { unknown |= dimensions }

    private mutating func close(_ dimension: Int) {
        let end = words.count
        if end > start { present |= 1 << UInt64(dimension) }
        words[dimension + 1] = UInt32(end)
        start = end
        if dimension + 1 == Dimension.count { words[AdmittedFacts.proofEnd] = UInt32(end) }
    }
}

extension Fact {
    fileprivate func atom(_ number: (Value) -> UInt32) -> Fact<UInt32> {
        switch self {
        case .absent: .absent
        case .known(let value): .known(number(value))
        case .unknown: .unknown
        }
    }

    fileprivate func or(_ value: Value) -> Fact {
        if case .absent = self { .known(value) } else { self }
    }
}

/// The facts that the rules of a policy ask for. No other fact changes a decision, so none needs to
/// be established.
public struct AskedFacts: Sendable, Hashable {
    private var dimensions: UInt64

    /// The facts that a record tells, whatever is asked later: all but digests, for which a whole
    /// file must be read.
    public static let told = AskedFacts(dimensions: ~(1 << UInt64(Dimension.of(.digest))))
    /// The same without groups: the account database, which has their names, may be slow.
    public static let toldAtOnce = told.subtracting(groups)
    public static let groups = AskedFacts(dimensions: 1 << UInt64(Dimension.of(.group)))
    public static let none = AskedFacts(dimensions: 0)

    public func contains(_ field: TextField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: ChoiceField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: BooleanField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: AgeField) -> Bool { has(Dimension.of(field)) }
    public var containsTime: Bool { has(Dimension.time) }
    public var containsDate: Bool { has(Dimension.date) }

    public func subtracting(_ other: AskedFacts) -> AskedFacts {
        AskedFacts(dimensions: dimensions & ~other.dimensions)
    }

    public func union(_ other: AskedFacts) -> AskedFacts {
        AskedFacts(dimensions: dimensions | other.dimensions)
    }

    private func has(_ dimension: Int) -> Bool { dimensions >> UInt64(dimension) & 1 != 0 }
}

extension AskedFacts {
    /// From an image that was inspected.
    init(_ image: PolicyImage) {
        dimensions = 0
        for entry in 0..<image.count(.entries) {
            add(choices: image.word(.entries, entry, 1), needs: image.word(.entries, entry, 2))
        }
        for statement in 0..<image.count(.statements) {
            addConditions(at: Int(image.word(.statements, statement, 3)), image)
        }
        for key in 0..<image.count(.limitKeys) { add(limitKey: image.text(.limitKeys, key)) }
    }

    /// The tests, then the exceptions, in the form of `CompiledMatch.words`.
    private mutating func addConditions(at place: Int, _ image: PolicyImage) {
        let start = image.start(.conditions) + place
        var place = start + 2
        addTests(image.words[start], at: &place, image)
        for _ in 0..<image.words[start + 1] {
            add(choices: image.words[place], needs: image.words[place + 1])
            let tests = image.words[place + 2]
            place += 4
            addTests(tests, at: &place, image)
        }
    }

    private mutating func addTests(_ count: UInt32, at place: inout Int, _ image: PolicyImage) {
        for _ in 0..<count {
            let head = image.words[place]
            add(Int(head >> 1 & 0x3F))
            place += 1 + Int(head >> 8) * (head & 1 == 0 ? 1 : 2)
        }
    }

    private mutating func add(choices: UInt32, needs: UInt32) {
        for field in [ChoiceField.session, .itemClass] {
            guard let run = FactMasks.run(of: field), choices & run.any == 0 else { continue }
            add(Dimension.of(field))
        }
        for field in BooleanField.allCases {
            guard let place = FactMasks.place(of: field), needs >> place & 3 != 0 else { continue }
            add(Dimension.of(field))
        }
    }

    private mutating func add(limitKey name: PolicyText) {
        if name == "uid" { add(Dimension.uid) }
        for block in [PolicyBlock.subject, .resource, .environment] {
            if let field = TextField(name.string, in: block) { add(Dimension.of(field)) }
        }
    }

    private mutating func add(_ dimension: Int) { dimensions |= 1 << UInt64(dimension) }
}

extension PolicyFacts {
    /// Adds the other's facts of subject and moment that are absent here.
    public func completed(by other: PolicyFacts) -> PolicyFacts {
        var facts = self
        for field in TextField.allCases where field.block != .resource && facts[field] == .absent {
            facts[field] = other[field]
        }
        for field in BooleanField.allCases
        where facts[field] == .absent || (facts[field] == .unknown && other[field] != .absent) {
            facts[field] = other[field]
        }
        for field in AgeField.allCases where facts[field] == .absent { facts[field] = other[field] }
        for field in ChoiceField.allCases
        where field.block == .subject && facts[field] == .absent {
            facts[field] = other[field]
        }
        if facts.uid == .absent { facts.uid = other.uid }
        if facts.time == .absent { facts.time = other.time }
        return facts
    }
}
