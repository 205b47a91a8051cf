// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Checks that every reference in an image is valid: no number out of bounds, no search without an
/// end, no node below itself.
struct ImageInspection {
    private let image: PolicyImage

    init(_ image: PolicyImage) { self.image = image }

    func inspect() throws(PolicySnapshotError) {
        try inspectSections()
        try inspectTexts()
        try inspectSymbols()
        try inspectBreakpoints()
        try inspectTrees()
        try inspectPayloads()
        try inspectStatements()
        try inspectEntries()
        try inspectNodes()
    }

    private func check(
        _ holds: Bool, _ section: PolicyImage.Section
    ) throws(PolicySnapshotError) {
        guard holds else { throw .malformed("\(section)") }
    }

    /// The sections are contiguous, fill the image, and consist of whole records.
    private func inspectSections() throws(PolicySnapshotError) {
        var place = PolicyImage.directoryLength
        for section in PolicyImage.Section.allCases {
            try check(image.start(section) == place, section)
            try check(image.length(section) % section.stride == 0, section)
            place += image.length(section)
            try check(place <= image.words.count, section)
        }
        guard place == image.words.count else { throw .wrongLength }
        try check(
            image.length(.summary) == IndexPurpose.allCases.count * IndexPurpose.recordLength,
            .summary)
        try check(image.count(.provenance) == image.count(.statements), .provenance)
        try check(image.count(.statements) < EntryHead.mostStatements, .statements)
    }

    private func checkText(
        _ place: UInt32, _ length: UInt32, _ section: PolicyImage.Section
    ) throws(PolicySnapshotError) {
        try check(Int(place) + Int(length) <= 4 * image.length(.bytes), section)
    }

    private func inspectTexts() throws(PolicySnapshotError) {
        let places: [(PolicyImage.Section, Int)] = [
            (.symbols, 1), (.attributes, 0), (.services, 0), (.files, 0), (.limitKeys, 0),
            (.provenance, 0), (.provenance, 2),
        ]
        for (section, offset) in places {
            for record in 0..<image.count(section) {
                try checkText(
                    // Safe: the offset is one of the table above.
                    image.word(section, record, offset), image.word(section, record, offset + 1),
                    section)
            }
        }
        for record in 0..<image.count(.provenance) {
            let file = image.word(.provenance, record, 4)
            try check(file < image.count(.files), .provenance)
        }
    }

    private func inspectSymbols() throws(PolicySnapshotError) {
        for symbol in 0..<image.count(.symbols) {
            guard let kind = SymbolKind(rawValue: image.word(.symbols, symbol) & 0xFF) else {
                throw .malformed("symbols")
            }
            if kind == .anchor { try inspectGlobs(at: Int(image.word(.symbols, symbol, 3))) }
        }
        let slots = image.count(.symbolSlots)
        try check(slots > 0 && slots & (slots - 1) == 0, .symbolSlots)
        var free = 0
        for slot in 0..<slots {
            let symbol = image.word(.symbolSlots, slot)
            try check(symbol <= image.count(.symbols), .symbolSlots)
            if symbol == 0 { free += 1 }
        }
        try check(free > 0, .symbolSlots)
        let kinds = TextField.allCases.count * SymbolKind.allCases.count
        try check(image.count(.lengthPlaces) == kinds, .lengthPlaces)
        try inspectRanges(.lengthPlaces, into: .lengths)
    }

    /// Checks records of place and number that refer to records of another section.
    private func inspectRanges(
        _ section: PolicyImage.Section, into other: PolicyImage.Section
    ) throws(PolicySnapshotError) {
        for record in 0..<image.count(section) {
            let end = Int(image.word(section, record)) + Int(image.word(section, record, 1))
            try check(end <= image.count(other), section)
        }
    }

    private func inspectGlobs(at start: Int) throws(PolicySnapshotError) {
        let globs = SectionReader(image, .globs, at: start)
        var reader = globs
        for _ in 0..<(try reader.next()) {
            _ = try reader.next()
            _ = try reader.next()
            for _ in 0..<(try reader.next()) {
                let place = try reader.next()
                try checkText(place, try reader.next(), .globs)
            }
        }
    }

    private func inspectBreakpoints() throws(PolicySnapshotError) {
        try check(
            image.count(.breakpointPlaces) == NumberDimension.allCases.count, .breakpointPlaces)
        try inspectRanges(.breakpointPlaces, into: .breakpoints)
        try check(image.count(.breakpoints) < Int(Dimension.mostFacts), .breakpoints)
    }

    private func inspectTrees() throws(PolicySnapshotError) {
        for demand in 0..<image.count(.demands) {
            let scope = UInt8(exactly: image.word(.demands, demand, 1))
            try check(scope.flatMap(Freshness.init(rawValue:)) != nil, .demands)
            var reader = SectionReader(image, .trees, at: Int(image.word(.demands, demand)))
            try inspectTree(&reader, depth: 1)
        }
    }

    private func inspectTree(
        _ reader: inout SectionReader, depth: Int
    ) throws(PolicySnapshotError) {
        try check(depth <= PolicyConstraint.mostDepth, .trees)
        let head = try reader.next()
        let value = head >> 3
        guard let kind = TreeKind(rawValue: head & 7) else { throw .malformed("trees") }
        switch kind {
        case .factor: try check(PolicyFactor(index: Int(value)) != nil, .trees)
        case .pam: try check(value < image.count(.services), .trees)
        case .pamWithin:
            try check(value < image.count(.services), .trees)
            _ = try reader.next()
            _ = try reader.next()
        case .any, .all, .atLeast:
            if kind == .atLeast { _ = try reader.next() }
            for _ in 0..<value { try inspectTree(&reader, depth: depth + 1) }
        }
    }

    private func inspectPayloads() throws(PolicySnapshotError) {
        for limit in 0..<image.count(.limits) {
            let end = Int(image.word(.limits, limit, 3)) + Int(image.word(.limits, limit, 4))
            try check(end <= image.count(.limitKeys), .limits)
            try check(image.word(.limits, limit, 5) <= image.count(.demands), .limits)
        }
        try check(image.count(.attributes) <= PolicySet.mostRedactedAttributes, .attributes)
        for set in 0..<image.count(.redactions) {
            let mask = image.wide(.redactions, set)
            let highest = UInt64.bitWidth - mask.leadingZeroBitCount
            try check(highest <= image.count(.attributes), .redactions)
        }
    }

    private func inspectStatements() throws(PolicySnapshotError) {
        for statement in 0..<image.count(.statements) {
            let head = image.word(.statements, statement)
            guard let kind = StatementKind(rawValue: head & ~CompiledPolicy.permissive) else {
                throw .malformed("statements")
            }
            let payload = Int(image.word(.statements, statement, 1))
            switch kind {
            case .require: try check(payload < image.count(.demands), .statements)
            case .redact: try check(payload < image.count(.redactions), .statements)
            case .limit: try check(payload < image.count(.limits), .statements)
            case .membership: try check(payload < 2, .statements)
            default: try check(payload == 0, .statements)
            }
            let place = Int(image.word(.statements, statement, 3))
            try inspectConditions(SectionReader(image, .conditions, at: place))
        }
    }

    private func inspectConditions(_ start: SectionReader) throws(PolicySnapshotError) {
        var reader = start
        let tests = try reader.next()
        let exceptions = try reader.next()
        for _ in 0..<tests { try inspectTest(&reader) }
        for _ in 0..<exceptions {
            _ = try reader.next()
            _ = try reader.next()
            let tests = try reader.next()
            let length = try reader.next()
            let begin = reader.place
            for _ in 0..<tests { try inspectTest(&reader) }
            try check(reader.place == begin + Int(length), .conditions)
        }
    }

    private func inspectTest(_ reader: inout SectionReader) throws(PolicySnapshotError) {
        let head = try reader.next()
        try check(head >> 1 & 0x7F < Dimension.count, .conditions)
        try reader.skip(Int(head >> 8) * (head & 1 == 0 ? 1 : 2))
    }

    private func inspectEntries() throws(PolicySnapshotError) {
        let count = image.count(.entries)
        for entry in 0..<count {
            let head = EntryHead(word: image.word(.entries, entry))
            try check(head.statement < image.count(.statements), .entries)
            let kind = image.word(.statements, Int(head.statement))
            let permissive = head.isPermissive ? CompiledPolicy.permissive : 0
            try check(kind == head.kind | permissive, .entries)
            let probe = Dimension.of(fact: image.word(.entries, entry, 3))
            try check(probe < Dimension.count, .entries)
            if entry == count - 1 { try check(head.isLast, .entries) }
        }
    }

    /// The depth of a node, and the index it belongs to.
    private struct Place {
        let depth: Int
        let purpose: IndexPurpose
    }

    /// The nodes form trees: each is referred to once, from above.
    private func inspectNodes() throws(PolicySnapshotError) {
        let count = image.count(.nodes)
        var places = [Place?](repeating: nil, count: count)
        for purpose in IndexPurpose.allCases {
            let root = image.word(.summary, purpose.rawValue * IndexPurpose.recordLength)
            guard root < count, places[Int(root)] == nil else { throw .malformed("summary") }
            places[Int(root)] = Place(depth: 0, purpose: purpose)
        }
        for node in 0..<count {
            guard let place = places[node], place.depth < IndexNode.mostDepth else {
                throw .malformed("nodes")
            }
            for child in try children(of: node, place.purpose) {
                try check(child > node && child < count && places[child] == nil, .nodes)
                places[child] = Place(depth: place.depth + 1, purpose: place.purpose)
            }
        }
    }

    /// The nodes that the node's slots refer to; checks the slots and the leaves.
    private func children(
        of node: Int, _ purpose: IndexPurpose
    ) throws(PolicySnapshotError) -> [Int] {
        let residual = image.word(.nodes, node, 4)
        if residual != 0 { try inspectLeaf(Int(residual) - 1, purpose) }
        let dimensions = image.wide(.nodes, node, 2)
        try check(dimensions >> UInt64(Dimension.count) == 0, .nodes)
        guard dimensions != 0 else { return [] }
        let bits = image.word(.nodes, node, 1)
        let first = Int(image.word(.nodes, node))
        try check(1...26 ~= bits && first + 1 << Int(bits) <= image.count(.slots), .nodes)
        var free = 0
        var children: [Int] = []
        for slot in first..<first + 1 << Int(bits) {
            let target = image.word(.slots, slot, 1)
            if image.word(.slots, slot) == 0 {
                free += 1
            } else if target & IndexNode.isNode != 0 {
                children.append(Int(target & ~IndexNode.isNode))
            } else {
                try inspectLeaf(Int(target), purpose)
            }
        }
        try check(free > 0, .slots)
        return children
    }

    /// Checks that the leaf's entries end, and serve the index's purpose.
    private func inspectLeaf(
        _ first: Int, _ purpose: IndexPurpose
    ) throws(PolicySnapshotError) {
        var entry = first
        while true {
            try check(entry < image.count(.entries), .entries)
            let head = EntryHead(word: image.word(.entries, entry))
            let kind = StatementKind(rawValue: head.kind)
            try check(kind.map(IndexPurpose.init) == purpose, .entries)
            if head.isLast { return }
            entry += 1
        }
    }
}

/// Reads the words of one section in order, and no others.
private struct SectionReader {
    private let image: PolicyImage
    private let section: PolicyImage.Section
    private(set) var place: Int

    init(_ image: PolicyImage, _ section: PolicyImage.Section, at place: Int) {
        self.image = image
        self.section = section
        self.place = place
    }

    mutating func next() throws(PolicySnapshotError) -> UInt32 {
        guard place < image.length(section) else { throw .malformed("\(section)") }
        defer { place += 1 }
        // Safe: the place was checked, and the section lies within the image.
        return image.words[image.start(section) + place]
    }

    mutating func skip(_ count: Int) throws(PolicySnapshotError) {
        guard count <= image.length(section) - place else { throw .malformed("\(section)") }
        place += count
    }
}
