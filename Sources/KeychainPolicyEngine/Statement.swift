// SPDX-License-Identifier: Apache-2.0

/// What a statement of a compiled policy does; the order in which leaf entries are sorted.
package enum StatementKind: UInt32, CaseIterable {
    case forbid, closed, require, permit, share, redact, audit, limit, membership
}

/// What an index is looked through for. Most requests need the first alone: permits matter where a
/// scope is closed, shares and memberships to strangers, and limits are counted apart.
package enum IndexPurpose: Int, CaseIterable {
    case decide, permit, share, join, limit

    /// Its statements grant something, so they must match for certain.
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
    /// Its statement has conditions that the entry doesn't tell.
    package static let hasMore: UInt32 = 1 << 26

    package var statement: UInt32 { word & 0xFFFFF }
    package var kind: UInt32 { word >> 20 & 0xF }
    package var isLast: Bool { word & Self.isLast != 0 }
    package var isPermissive: Bool { word & Self.permissive != 0 }
    package var hasMore: Bool { word & Self.hasMore != 0 }
}
