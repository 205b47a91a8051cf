// SPDX-License-Identifier: Apache-2.0

/// What a statement of a compiled policy does; the order in which leaf entries are sorted.
enum StatementKind: UInt32, CaseIterable {
    case forbid, closed, require, permit, share, redact, audit, limit, membership
}

/// What an index is looked through for. Most requests need the first alone: permits matter where a
/// scope is closed, shares and memberships to strangers, and limits are counted apart.
enum IndexPurpose: Int, CaseIterable {
    case decide, permit, share, join, limit

    /// Its statements grant something, so they must match for certain.
    var grants: Bool { self == .permit || self == .share || self == .join }

    /// Words of its record in the summary: root, most candidates, number of statements.
    static let recordLength = 3

    init(_ kind: StatementKind) {
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
}
