// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// The facts that the rules of a policy ask for. Any other changes no decision, whatever it is, so
/// it need not be established.
public struct AskedFacts: Sendable, Hashable {
    private var dimensions: UInt64

    /// What a record tells, whatever is asked later: all but digests, which cost a look at a whole
    /// file.
    public static let told = AskedFacts(dimensions: ~(1 << UInt64(Dimension.of(.digest))))
    /// The same without groups: their names are in the account database, which may be slow.
    public static let toldAtOnce = told.subtracting(groups)
    public static let groups = AskedFacts(dimensions: 1 << UInt64(Dimension.of(.group)))
    public static let none = AskedFacts(dimensions: 0)

    public func contains(_ field: TextField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: ChoiceField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: BooleanField) -> Bool { has(Dimension.of(field)) }
    public func contains(_ field: AgeField) -> Bool { has(Dimension.of(field)) }
    public var containsTime: Bool { has(Dimension.time) }

    public func subtracting(_ other: AskedFacts) -> AskedFacts {
        AskedFacts(dimensions: dimensions & ~other.dimensions)
    }

    public func union(_ other: AskedFacts) -> AskedFacts {
        AskedFacts(dimensions: dimensions | other.dimensions)
    }

    private func has(_ dimension: Int) -> Bool { dimensions >> UInt64(dimension) & 1 != 0 }
}

extension AskedFacts {
    /// Of an image that has been inspected.
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

    /// Tests, then the exceptions, as `CompiledMatch.words` has them.
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
    /// With what another knows of the subject and the moment and this leaves out.
    public func completed(by other: PolicyFacts) -> PolicyFacts {
        var facts = self
        for field in TextField.allCases where field.block != .resource && facts[field] == .absent {
            facts[field] = other[field]
        }
        for field in BooleanField.allCases where facts[field] == .absent {
            facts[field] = other[field]
        }
        for field in AgeField.allCases where facts[field] == .absent { facts[field] = other[field] }
        if facts[ChoiceField.session] == .absent {
            facts[ChoiceField.session] = other[ChoiceField.session]
        }
        if facts.uid == .absent { facts.uid = other.uid }
        if facts.time == .absent { facts.time = other.time }
        return facts
    }
}
