// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The texts of a field, divided by its patterns: texts that no pattern tells apart are in one
/// atom. Each value of the field's axis stands for some of the atoms.
struct TextAtoms {
    private let patterns: [TextPattern]
    /// For each atom a text, and the indices of the patterns that it matches.
    private let atoms: [TextClasses.Class]
    /// For each atom the axis' value.
    private let places: [Int]
    /// For each pattern its atoms.
    private let matched: [Set<Int>]

    init(patterns: [TextPattern], classes: [TextClasses.Class], places: [Int]) {
        self.patterns = patterns
        atoms = classes
        self.places = places
        var matched = patterns.map { _ in Set<Int>() }
        for (atom, own) in classes.enumerated() {
            for pattern in own.matches { matched[pattern].insert(atom) }
        }
        self.matched = matched
    }

    /// A text of each atom that the values stand for.
    func texts(of values: Set<Int>) -> [PolicyText] {
        atoms.indices.filter { values.contains(places[$0]) }.map { atoms[$0].text }
    }

    /// The texts that the values stand for, in the patterns of the policies. `values` are numbers
    /// of the axis; texts that no pattern matches may be under the number of "absent".
    func words(of values: Set<Int>) -> Words {
        let own = Set(atoms.indices.filter { values.contains(places[$0]) })
        let others = Set(atoms.indices).subtracting(own)
        if others.isEmpty { return .anyBut([]) }
        if let names = names(of: others) { return shorter(own, .anyBut(names)) }
        return .these(names(of: own) ?? described(own))
    }

    /// The texts of one atom.
    func words(ofAtom atom: Int) -> String {
        (names(of: [atom]) ?? described([atom])).joined(separator: ", ")
    }

    enum Words {
        case these([String])
        case anyBut([String])
    }

    private func shorter(_ own: Set<Int>, _ but: Words) -> Words {
        guard case .anyBut(let excluded) = but, let names = names(of: own),
            names.count <= excluded.count
        else { return but }
        return .these(names)
    }

    /// The widest patterns that together match exactly these atoms; nil where there are none.
    private func names(of atoms: Set<Int>) -> [String]? {
        let inside = candidates(in: atoms)
        var left = atoms
        var names: [Int] = []
        for pattern in inside where !matched[pattern].isDisjoint(with: left) {
            left.subtract(matched[pattern])
            names.append(pattern)
        }
        guard left.isEmpty else { return nil }
        return names.sorted().map { patterns[$0].words }
    }

    /// Patterns that match only these atoms, the widest first.
    private func candidates(in atoms: Set<Int>) -> [Int] {
        Set(atoms.flatMap { self.atoms[$0].matches })
            .filter { matched[$0].isSubset(of: atoms) }
            .sorted { (-matched[$0].count, $0) < (-matched[$1].count, $1) }
    }

    /// Describes atom by atom: the patterns that match it, and those that do not.
    private func described(_ atoms: Set<Int>) -> [String] {
        var left = atoms
        var words: [String] = []
        for pattern in candidates(in: atoms) where !matched[pattern].isDisjoint(with: left) {
            left.subtract(matched[pattern])
            words.append(patterns[pattern].words)
        }
        for atom in left.sorted() where left.contains(atom) {
            let found = described(atom, among: atoms)
            left.subtract(found.atoms)
            words.append(found.words)
        }
        return words
    }

    /// One pattern without some others, where only these atoms remain; else the atom alone.
    private func described(_ atom: Int, among all: Set<Int>) -> (words: String, atoms: Set<Int>) {
        let own = atoms[atom].matches.sorted { matched[$0].count < matched[$1].count }
        guard let narrowest = own.first else {
            let top = patterns.indices.filter { !matched[$0].isEmpty }
            return (
                "any but (" + top.map { patterns[$0].words }.joined(separator: ", ") + ")", [atom]
            )
        }
        let others = matched[narrowest].subtracting(all)
        if let names = names(of: others) {
            return (
                "\(patterns[narrowest].words) but not (" + names.joined(separator: ", ") + ")",
                matched[narrowest].subtracting(others)
            )
        }
        let met = own.map { patterns[$0].words }.joined(separator: " and ")
        let around = own.reduce(matched[narrowest]) { $0.intersection(matched[$1]) }
        let rest = patterns.indices.filter {
            !own.contains($0) && !matched[$0].isDisjoint(with: around)
        }
        let but =
            rest.isEmpty
            ? "" : " but not (" + rest.map { patterns[$0].words }.joined(separator: ", ") + ")"
        return (met + but, [atom])
    }
}

extension TextPattern {
    /// The pattern as areas write it.
    fileprivate var words: String {
        let text = PolicyText(description)
        // A text with a literal star must not look like a prefix.
        if case .literal = self, description.utf8.contains(UInt8(ascii: "*")) {
            return JSONText(description).description
        }
        return text.shown
    }
}
