// SPDX-License-Identifier: Apache-2.0
// A checked policy, as a loader makes it and every evaluator reads it. No order in it affects a
// decision. Before a set is made, definitions are expanded (`use` adds its conditions to those
// beside it), and rules that other rules replace are left out.

package import KeychainModel

/// A place in the sources.
public struct PolicyOrigin: Sendable, Hashable {
    public var file: String
    /// Counted from 1.
    public var line: Int
    public var column: Int
    /// The index of the folder: 0 is the vendor's; a later one wins.
    public var level: Int

    public init(file: String, line: Int, column: Int, level: Int) {
        self.file = file
        self.line = line
        self.column = column
        self.level = level
    }
}

/// Whether a rule is enforced, or only logs its decision.
public enum PolicyMode: Sendable, Hashable {
    case enforce
    /// Permissive until 00:00 local of that day, counted from 1970-01-01.
    case permissive(untilDay: Int32)

    /// The first day on which the rule is enforced; nil where it always is.
    package var firstDay: Int32? {
        if case .permissive(let end) = self { end } else { nil }
    }

    package func enforces(on day: Int32) -> Bool {
        switch self {
        case .enforce: true
        case .permissive(let end): day >= end
        }
    }
}

/// How widely a proof may be shared, narrowest first.
public enum Freshness: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case operation, context, process, tty, session

    public var word: String {
        switch self {
        case .operation: "operation"
        case .context: "context"
        case .process: "process"
        case .tty: "tty"
        case .session: "session"
        }
    }

    public init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    /// The greatest age of a proof, whatever a policy says; nil for no bound.
    public var longest: PolicyDuration? {
        switch self {
        case .operation, .context: nil
        case .process, .tty: .minutes(15)
        case .session: .hours(12)
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A requirement with the freshness that its proofs need.
public struct PolicyDemand: Sendable, Hashable {
    public var constraint: PolicyConstraint
    public var within: PolicyDuration
    public var scope: Freshness

    public init(
        _ constraint: PolicyConstraint, within: PolicyDuration = .zero,
        scope: Freshness = .context
    ) {
        self.constraint = constraint
        self.within = within
        self.scope = scope
    }
}

/// A rate limit of a rule. The daemon counts it; a decision never does.
public struct PolicyLimit: Sendable, Hashable {
    public enum Exhausted: Sendable, Hashable {
        case deny
        case require(PolicyConstraint)
    }

    public var count: UInt32
    public var per: PolicyDuration
    /// The written names of the fields whose values each have a budget of their own, such as `user`
    /// and `exe`.
    public var keys: [PolicyText]
    public var then: Exhausted

    public init(
        _ count: UInt32, per: PolicyDuration, by keys: [PolicyText], then: Exhausted
    ) {
        self.count = count
        self.per = per
        self.keys = keys
        self.then = then
    }
}

/// The amount that a decision writes to the log.
public enum AuditLevel: UInt8, Sendable, Hashable, Comparable {
    case decision, full
    public var word: String { self == .full ? "full" : "decision" }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The effect of a rule where it matches. The texts are reasons for people.
public enum PolicyEffect: Sendable, Hashable {
    case permit(String)
    case forbid(String)
    case share(String)
    case require(PolicyDemand)
    case limit(PolicyLimit)
    /// The attributes that the answer leaves out.
    case redact([PolicyText])
    case audit(AuditLevel)
}

extension PolicyEffect {
    /// The names of attributes in `redact`.
    package static let attributes: [String: AttributeName] = [
        "service": .service, "account": .account, "label": .label, "comment": .comment,
        "description": .itemDescription, "generic": .generic, "creator": .creator, "type": .type,
        "server": .server, "protocol": .networkProtocol, "port": .port, "path": .path,
        "security-domain": .securityDomain, "authentication-type": .authenticationType,
        "creation-date": .creationDate, "modification-date": .modificationDate,
        "access-group": .accessGroup,
    ]

    /// The attribute with that name in `redact`; nil where there is none. A name of four bytes,
    /// such as `acct`, is the attribute's own.
    package static func attribute(_ name: String) -> AttributeName? {
        attributes[name] ?? (name.utf8.count == 4 ? AttributeName(rawValue: name) : nil)
    }
}

public struct PolicyRule: Sendable, Hashable {
    public var id: PolicyText
    public var origin: PolicyOrigin
    public var description: String?
    public var tags: [String]
    /// The id of the rule in an earlier folder that this one replaces.
    public var replaces: PolicyText?
    public var mode: PolicyMode
    public var effect: PolicyEffect
    public var match: PolicyMatch

    public init(
        id: PolicyText, origin: PolicyOrigin, description: String? = nil, tags: [String] = [],
        replaces: PolicyText? = nil, mode: PolicyMode = .enforce, effect: PolicyEffect,
        match: PolicyMatch
    ) {
        self.id = id
        self.origin = origin
        self.description = description
        self.tags = tags
        self.replaces = replaces
        self.mode = mode
        self.effect = effect
        self.match = match
    }
}

/// A scope in which every operation needs a permit.
public struct ClosedScope: Sendable, Hashable {
    public var id: PolicyText
    public var origin: PolicyOrigin
    public var mode: PolicyMode
    public var match: PolicyMatch

    public init(
        id: PolicyText, origin: PolicyOrigin, mode: PolicyMode = .enforce, match: PolicyMatch
    ) {
        self.id = id
        self.origin = origin
        self.mode = mode
        self.match = match
    }
}

/// Programs that are members of an access group besides their own.
public struct GroupMembership: Sendable, Hashable {
    public var id: PolicyText
    public var origin: PolicyOrigin
    public var group: PolicyText
    /// The alternatives, each a list of conditions on the subject without `member`.
    public var members: [[PolicyCondition]]
    /// `mode: read` is `.read`, `mode: write` is `.all`.
    public var operations: PolicyOperations
    /// Whether the members' new items belong to the group.
    public var isHome: Bool

    public init(
        id: PolicyText, origin: PolicyOrigin, group: PolicyText,
        members: [[PolicyCondition]], operations: PolicyOperations, isHome: Bool = false
    ) {
        self.id = id
        self.origin = origin
        self.group = group
        self.members = members
        self.operations = operations
        self.isHome = isHome
    }
}

/// A claim that nothing in the box is ever allowed; it is proved or refuted when a set is checked.
public struct PolicyAssertion: Sendable, Hashable {
    public var id: PolicyText
    public var origin: PolicyOrigin
    public var never: PolicyBox

    public init(id: PolicyText, origin: PolicyOrigin, never: PolicyBox) {
        self.id = id
        self.origin = origin
        self.never = never
    }
}

public struct PolicySet: Sendable, Hashable {
    public static let mostRules = 20_000
    /// The most attributes that all `redact` rules together may name.
    public static let mostRedactedAttributes = 64

    public var rules: [PolicyRule]
    public var closed: [ClosedScope]
    public var groups: [GroupMembership]
    public var assertions: [PolicyAssertion]

    public init(
        rules: [PolicyRule] = [], closed: [ClosedScope] = [], groups: [GroupMembership] = [],
        assertions: [PolicyAssertion] = []
    ) {
        self.rules = rules
        self.closed = closed
        self.groups = groups
        self.assertions = assertions
    }
}
