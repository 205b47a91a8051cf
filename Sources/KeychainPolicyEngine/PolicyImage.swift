// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// A compiled policy as it lies in memory and in a snapshot: one array of 32-bit words, cut into
/// sections. Nothing in it is an address, so nothing need be rebuilt when it is loaded.
package struct PolicyImage: Sendable, Equatable {
    /// What each section holds; the numbers count words a record.
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
        /// For uid, time and the two ages, 2: place and number of breakpoints.
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
        /// 2: a fact, and where its rules are.
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

        /// Words a record.
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
    package static let version: UInt32 = 4
    /// Magic, version, number of words, checksum.
    package static let headerLength = 6
    package static let directoryLength = headerLength + 2 * Section.allCases.count

    package let words: [UInt32]

    /// Where the section begins, in words.
    package func start(_ section: Section) -> Int {
        Int(words[Self.headerLength + 2 * section.rawValue])
    }

    /// How many words it has.
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

    /// The text whose place and length a record holds.
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
    /// Lays the sections out behind a header.
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

    /// FNV-1a over all words but the sum's own. It finds damage; who may write the file is a
    /// matter of its owner and mode.
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
