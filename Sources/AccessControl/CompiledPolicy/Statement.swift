// SPDX-License-Identifier: Apache-2.0

/// What a statement of a compiled policy does; the order in which leaf entries are sorted.
enum StatementKind: UInt32, CaseIterable {
    case forbid, closed, require, permit, share, redact, audit, limit, membership

    /// It grants something, so it must match for certain.
    var grants: Bool { self == .permit || self == .share || self == .membership }
}

/// The first word of a leaf entry.
struct EntryHead {
    let word: UInt32

    init(word: UInt32) { self.word = word }

    init(statement: Int, kind: StatementKind, complains: Bool) {
        word = UInt32(statement) | kind.rawValue << 20 | (complains ? Self.complains : 0)
    }

    static let mostStatements = 1 << 20
    static let isLast: UInt32 = 1 << 24
    static let complains: UInt32 = 1 << 25
    /// Its statement has conditions that the entry doesn't tell.
    static let hasMore: UInt32 = 1 << 26

    var statement: UInt32 { word & 0xFFFFF }
    var kind: UInt32 { word >> 20 & 0xF }
    var isLast: Bool { word & Self.isLast != 0 }
    var complains: Bool { word & Self.complains != 0 }
    var hasMore: Bool { word & Self.hasMore != 0 }

    /// permit, share and membership.
    var grants: Bool { 0b1_0001_1000 & (1 << kind) != 0 }
}
