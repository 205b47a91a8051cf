// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// A compiled policy in memory and in a snapshot: one array of 32-bit words, cut into sections. It
/// contains no addresses, so it is used as it was loaded.
package struct PolicyImage: Sendable, Equatable {
    /// The content of each section; the numbers count words per record.
    package enum Section: Int, CaseIterable {
        /// UTF-8 of all texts, four bytes a word.
        case bytes
        /// Symbols, 4: field and kind; place and length of its text; its fact or glob.
        case symbols
        /// Hash table: number of a symbol and 1, or 0.
        case symbolSlots
        /// For each field and kind of symbol, 2: place and number of its distinct lengths.
        case lengthPlaces
        case lengths
        /// Number of globs; for each: its fact, whether it is open, its pieces.
        case globs
        /// For uid, time, the two ages and the date, 2: place and number of breakpoints.
        case breakpointPlaces
        /// Where the atoms of a dimension begin, 2 each.
        case breakpoints
        /// Rules, scopes and memberships, 4: kind, payload, day it complains until, condition.
        case statements
        case conditions
        /// Leaf entries, 4.
        case entries
        /// Nodes, 5: first slot, bits of their number, dimensions (2), remaining entries.
        case nodes
        /// 2: a fact, and the place of its rules.
        case slots
        /// Demands, 4: tree, scope, within (2).
        case demands
        case trees
        /// Sets of redacted attributes, 2.
        case redactions
        /// Names, 2: place and length; of redacted attributes, PAM services, files.
        case attributes
        case services
        case files
        /// Limits, 6: count, per (2), keys and their number, demand and 1 or 0.
        case limits
        case limitKeys
        /// For each statement, 8: id (2), reason (2), file, line, column, level.
        case provenance
        /// Roots of the indices, and the certificate.
        case summary

        /// Words per record.
        package var stride: Int {
            switch self {
            case .symbols, .statements, .entries, .demands: 4
            case .lengthPlaces, .breakpointPlaces, .breakpoints, .slots, .redactions, .attributes,
                .services,
                .files, .limitKeys:
                2
            case .nodes: 5
            case .limits: 6
            case .provenance: 8
            default: 1
            }
        }
    }

    package static let magic: [UInt32] = [0x4C50_434B, 0x0A1A_5943]  // "KCPL", "CY", ^Z, newline
    package static let version: UInt32 = 6
    /// Magic, version, number of words, checksum.
    package static let headerLength = 6
    package static let directoryLength = headerLength + 2 * Section.allCases.count

    package let words: [UInt32]

    /// The start of the section, in words.
    package func start(_ section: Section) -> Int {
        Int(words[Self.headerLength + 2 * section.rawValue])
    }

    /// The length of the section, in words.
    package func length(_ section: Section) -> Int {
        Int(words[Self.headerLength + 2 * section.rawValue + 1])
    }

    package func count(_ section: Section) -> Int { length(section) / section.stride }

    /// A word of a record.
    package func word(_ section: Section, _ record: Int, _ offset: Int = 0) -> UInt32 {
        words[start(section) + record * section.stride + offset]
    }

    package func wide(_ section: Section, _ record: Int, _ offset: Int = 0) -> UInt64 {
        UInt64(word(section, record, offset)) | UInt64(word(section, record, offset + 1)) << 32
    }

    /// The text whose place and length are in a record.
    package func text(_ section: Section, _ record: Int, _ offset: Int = 0) -> PolicyText {
        let place = Int(word(section, record, offset))
        let length = Int(word(section, record, offset + 1))
        return PolicyText(String(decoding: bytes(place, length), as: UTF8.self))
    }

    package func bytes(_ place: Int, _ length: Int) -> [UInt8] {
        let start = start(.bytes)
        return (place..<place + length).map {
            UInt8(truncatingIfNeeded: words[start + $0 / 4] >> (8 * UInt32($0 % 4)))
        }
    }
}

extension PolicyImage {
    /// Lays out the sections after a header.
    package init(_ sections: [Section: [UInt32]]) {
        var words = Self.magic + [Self.version, 0, 0, 0]
        var body: [UInt32] = []
        for section in Section.allCases {
            let content = sections[section] ?? []
            words.append(UInt32(Self.directoryLength + body.count))
            words.append(UInt32(content.count))
            body += content
        }
        words += body
        words[3] = UInt32(words.count)
        let sum = Self.checksum(words)
        words[4] = UInt32(truncatingIfNeeded: sum)
        words[5] = UInt32(truncatingIfNeeded: sum >> 32)
        self.words = words
    }

    /// FNV-1a over all words except the sum's own. It detects damage; the file's owner and mode
    /// decide which programs may write it.
    package static func checksum(_ words: [UInt32]) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for (place, word) in words.enumerated() where place != 4 && place != 5 {
            sum = (sum ^ UInt64(word)) &* 0x0000_0100_0000_01B3
        }
        return sum
    }

    package static func halves(_ value: UInt64) -> [UInt32] {
        [UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32)]
    }

    package var checksum: UInt64 { UInt64(words[4]) | UInt64(words[5]) << 32 }
}

/// The effect of a statement of a compiled policy, in the order in which leaf entries are sorted.
package enum StatementKind: UInt32, CaseIterable {
    case forbid, closed, require, permit, share, redact, audit, limit, membership
}

/// The purpose of an index. Most requests need only the first: permits matter where a scope is
/// closed, shares and memberships matter to strangers, and limits are counted apart.
package enum IndexPurpose: Int, CaseIterable {
    case decide, permit, share, join, limit

    /// Whether its statements grant something, so that they must match for certain.
    package var grants: Bool { self == .permit || self == .share || self == .join }

    /// Words of its record in the summary: root, most candidates, number of statements.
    package static let recordLength = 3

    package init(_ kind: StatementKind) {
        switch kind {
        case .forbid, .closed, .require, .redact, .audit: self = .decide
        case .permit: self = .permit
        case .share: self = .share
        case .membership: self = .join
        case .limit: self = .limit
        }
    }
}

/// The first word of a leaf entry.
package struct EntryHead {
    package let word: UInt32

    package init(word: UInt32) { self.word = word }

    package init(statement: Int, kind: StatementKind, isPermissive: Bool) {
        word = UInt32(statement) | kind.rawValue << 20 | (isPermissive ? Self.permissive : 0)
    }

    package static let mostStatements = 1 << 20
    package static let isLast: UInt32 = 1 << 24
    package static let permissive: UInt32 = 1 << 25
    /// Set where the statement has conditions beside the entry's.
    package static let hasMore: UInt32 = 1 << 26

    package var statement: UInt32 { word & 0xFFFFF }
    package var kind: UInt32 { word >> 20 & 0xF }
    package var isLast: Bool { word & Self.isLast != 0 }
    package var isPermissive: Bool { word & Self.permissive != 0 }
    package var hasMore: Bool { word & Self.hasMore != 0 }
}

/// The dimensions in which facts are numbered, and a fact's number: its dimension and, from 1, its
/// place there. Values that no rule mentions have no number, so that matching only compares
/// integers.
package enum Dimension {
    // Written out, since a decision reads them: text fields come first, from 0.
    package static let uid = 20
    package static let time = 21
    package static let operation = 22
    package static let firstChoice = 23
    package static let firstBoolean = 29
    package static let firstAge = 39
    package static let date = 41
    package static let count = 42

    /// Bits of a fact's number below its dimension.
    package static let shift: UInt32 = 26
    package static let mostFacts = UInt32(1) << shift - 1

    package static func of(_ field: TextField) -> Int { Int(field.rawValue) }
    package static func of(_ field: ChoiceField) -> Int { firstChoice + Int(field.rawValue) }
    package static func of(_ field: BooleanField) -> Int { firstBoolean + Int(field.rawValue) }
    package static func of(_ field: AgeField) -> Int { firstAge + Int(field.rawValue) }

    package static func fact(_ dimension: Int, _ place: UInt32) -> UInt32 {
        UInt32(dimension) << shift | place
    }
    package static func fact(_ field: BooleanField, _ value: Bool) -> UInt32 {
        fact(of(field), value ? 2 : 1)
    }
    package static func fact(_ field: ChoiceField, _ value: UInt8) -> UInt32 {
        fact(of(field), UInt32(value) + 1)
    }
    package static func fact(_ operation: PolicyOperation) -> UInt32 {
        fact(Self.operation, UInt32(operation.index) + 1)
    }
    package static func of(fact: UInt32) -> Int { Int(fact >> shift) }
}

// Numbers are cut into atoms at the ends of all ranges that rules name: within an atom no rule can
// tell two values apart.

/// The dimensions whose facts are numbers.
package enum NumberDimension: Int, CaseIterable {
    case uid, time, sessionAge, presenceAge, date

    package var dimension: Int {
        switch self {
        case .uid: Dimension.uid
        case .time: Dimension.time
        case .sessionAge: Dimension.of(AgeField.session)
        case .presenceAge: Dimension.of(AgeField.presence)
        case .date: Dimension.date
        }
    }

    package init(_ field: AgeField) { self = field == .session ? .sessionAge : .presenceAge }
}

extension PolicyImage {
    /// Whether rules name numbers of the dimension.
    func names(_ dimension: NumberDimension) -> Bool {
        word(.breakpointPlaces, dimension.rawValue, 1) > 0
    }

    package func atom(of value: Int64, _ dimension: NumberDimension) -> UInt32 {
        let first = Int(word(.breakpointPlaces, dimension.rawValue))
        var low = first
        var high = first + Int(word(.breakpointPlaces, dimension.rawValue, 1))
        while low < high {
            let middle = (low + high) / 2
            let point = Int64(bitPattern: wide(.breakpoints, middle))
            if point <= value { low = middle + 1 } else { high = middle }
        }
        return UInt32(low - first)
    }
}
