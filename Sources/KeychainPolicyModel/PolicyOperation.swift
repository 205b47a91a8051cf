// SPDX-License-Identifier: Apache-2.0

/// An operation on an item, in the words of policies. The raw value is the written word.
public enum PolicyOperation: String, Sendable, Hashable, CaseIterable {
    case readSecret = "read-secret"
    case readAttributes = "read-attributes"
    case add
    case update
    case delete
    case sign
    case decrypt
    case derive
    case export
    case changeACL = "change-acl"
    /// A login without a password opens the keychain with a protector that its owner enrolled for
    /// it.
    case unlock
    /// An update moves the item to another access group, whose programs can open it from then on.
    case move
    /// A search for more than one item finds another program's.
    case list

    /// The index in tables: 0..<13.
    public var index: Int {
        switch self {
        case .readSecret: 0
        case .readAttributes: 1
        case .add: 2
        case .update: 3
        case .delete: 4
        case .sign: 5
        case .decrypt: 6
        case .derive: 7
        case .export: 8
        case .changeACL: 9
        case .unlock: 10
        case .move: 11
        case .list: 12
        }
    }
}

/// A set of operations; a rule that names none means all.
public struct PolicyOperations: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public init(_ operation: PolicyOperation) { rawValue = 1 << UInt16(operation.index) }

    public static let useKey: Self = [Self(.sign), Self(.decrypt), Self(.derive)]
    public static let write: Self = [Self(.add), Self(.update), Self(.move), Self(.delete)]
    public static let all = Self(rawValue: (1 << 13) - 1)
    /// The operations of a member of a group with `mode: read`.
    public static let read: Self = [
        Self(.readSecret), Self(.readAttributes), Self(.list), .useKey,
    ]

    /// Reads an operation or a set of operations, as policies write them.
    public init?(word: String) {
        switch word {
        case "use-key": self = .useKey
        case "write": self = .write
        case "all": self = .all
        default:
            guard let one = PolicyOperation(rawValue: word) else { return nil }
            self.init(one)
        }
    }

    public func contains(_ operation: PolicyOperation) -> Bool { contains(Self(operation)) }
}
