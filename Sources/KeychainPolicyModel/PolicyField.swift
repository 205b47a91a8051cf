// SPDX-License-Identifier: Apache-2.0

// The fields of the language, by the kind of their values. Each field knows its block and its name
// in a policy file; the same fields are the keys of a request's facts.

/// The part of a rule in which a field stands.
public enum PolicyBlock: String, Sendable, Hashable {
    case subject
    case resource
    case environment = "when"
}

/// The common properties of all kinds of field.
public protocol PolicyField: Sendable, Hashable {
    /// The written name, such as `user-unit`.
    var name: String { get }
    var block: PolicyBlock { get }
}

extension PolicyField where Self: CaseIterable {
    /// The field with that name in that block; nil if there is none.
    public init?(_ name: String, in block: PolicyBlock) {
        let found = Self.allCases.first { $0.name == name && $0.block == block }
        guard let found else { return nil }
        self = found
    }
}

/// Fields of text. `group` has many values; the others have one.
public enum TextField: UInt8, PolicyField, CaseIterable {
    case user, group, exe, digest, unit, slice, userUnit, app, label
    case keychain, service, account, server, networkProtocol, accessGroup, itemLabel, creator
    case host
    /// For an `unlock`: the PAM service that the user logged in through, in lower case.
    case pamService
    /// For an item of the class `attributed`: its purpose.
    case schema

    public var name: String {
        switch self {
        case .user: "user"
        case .group: "group"
        case .exe: "exe"
        case .digest: "digest"
        case .unit: "unit"
        case .slice: "slice"
        case .userUnit: "user-unit"
        case .app: "app"
        case .label, .itemLabel: "label"
        case .keychain: "keychain"
        case .service: "service"
        case .account: "account"
        case .server: "server"
        case .networkProtocol: "protocol"
        case .accessGroup: "access-group"
        case .creator: "creator"
        case .host: "host"
        case .pamService: "pam-service"
        case .schema: "schema"
        }
    }

    public var block: PolicyBlock {
        switch self {
        case .user, .group, .exe, .digest, .unit, .slice, .userUnit, .app, .label,
            .pamService:
            .subject
        case .keychain, .service, .account, .server, .networkProtocol, .accessGroup, .itemLabel,
            .creator, .schema:
            .resource
        case .host: .environment
        }
    }
}

extension TextField {
    /// The fields that don't describe the item.
    package static let ofSubject = allCases.filter { $0.block != .resource }
    /// The fields that describe the item, in their order.
    package static let ofItem = allCases.filter { $0.block == .resource }
}

/// Fields that are true or false.
public enum BooleanField: UInt8, PolicyField, CaseIterable {
    case trustedExe, tty, member
    case remote, active, screenLocked, unlocked, passcodeSet, interactive, prompted

    public var name: String {
        switch self {
        case .trustedExe: "trusted-exe"
        case .tty: "tty"
        case .member: "member"
        case .remote: "remote"
        case .active: "active"
        case .screenLocked: "screen-locked"
        case .unlocked: "unlocked"
        case .passcodeSet: "passcode-set"
        case .interactive: "interactive"
        case .prompted: "prompted"
        }
    }

    public var block: PolicyBlock {
        switch self {
        case .trustedExe, .tty, .member: .subject
        default: .environment
        }
    }
}

/// Fields with a closed vocabulary; a value is the index of its word.
public enum ChoiceField: UInt8, PolicyField, CaseIterable {
    case session, itemClass, accessible
    /// For an `unlock`: the protector that is to open the keychain.
    case protector
    /// Absent where the program itself connects to the service.
    case via
    /// How the secret travels from the deputy to the program; absent where no secret does.
    case transfer

    public var name: String {
        switch self {
        case .session: "session"
        case .itemClass: "class"
        case .accessible: "accessible"
        case .protector: "protector"
        case .via: "via"
        case .transfer: "transfer"
        }
    }

    public var block: PolicyBlock {
        switch self {
        case .session, .via, .transfer: .subject
        case .itemClass, .accessible, .protector: .resource
        }
    }

    public var words: [String] {
        switch self {
        case .session: ["seat", "ssh", "remote-desktop", "service", "cron", "other"]
        case .itemClass:
            [
                "generic-password", "internet-password", "key", "certificate", "identity",
                "attributed",
            ]
        case .accessible:
            [
                "when-unlocked", "after-first-unlock", "always",
                "when-unlocked-this-device-only", "after-first-unlock-this-device-only",
                "always-this-device-only", "when-passcode-set-this-device-only",
            ]
        case .protector: ["tpm2", "credential", "fido2"]
        case .via: ["secret-service", "portal"]
        case .transfer: ["plain", "encrypted"]
        }
    }

    /// The number of values.
    public var count: UInt8 {
        switch self {
        case .session: 6
        case .itemClass: 6
        case .accessible: 7
        case .protector: 3
        case .via, .transfer: 2
        }
    }

    public func index(of word: String) -> UInt8? {
        words.firstIndex(of: word).map { UInt8($0) }
    }

    /// Masks of sessions: those of users elsewhere, and those of users here. With the first
    /// `remote` is known to be true, with the second to be false.
    package static let remoteSessions = mask(ofSessions: ["ssh", "remote-desktop"])
    package static let localSessions = mask(ofSessions: ["seat", "service"])

    private static func mask(ofSessions words: [String]) -> UInt8 {
        words.compactMap { ChoiceField.session.index(of: $0) }.reduce(0) { $0 | 1 << $1 }
    }

    /// The index of `key` among the classes.
    public static let keyClass: UInt8 = 2
}

/// Fields that hold the time since an event.
public enum AgeField: UInt8, PolicyField, CaseIterable {
    case session, presence
    public var name: String { self == .session ? "session-age" : "presence-age" }
    public var block: PolicyBlock { .environment }
}

/// `resource.flags`: the requirements of an item's access control.
public struct PolicyItemFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let words = [
        "user-presence", "biometry-any", "biometry-current-set", "device-passcode", "companion",
        "application-password", "private-key-usage", "synchronizable",
    ]

    public init?(word: String) {
        guard let place = Self.words.firstIndex(of: word) else { return nil }
        rawValue = 1 << UInt8(place)
    }
}

/// Kleene's three values: a fact that could not be established makes a condition neither true nor
/// false.
public enum Truth: Int, Sendable, Hashable, Comparable {
    case no = 0
    case unknown = 1
    case yes = 2

    package init(_ value: Bool) { self = value ? .yes : .no }

    package var negated: Truth {
        switch self {
        case .no: .yes
        case .unknown: .unknown
        case .yes: .no
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Fact {
    /// The truth of the test for this fact.
    package func truth(absent: Truth, _ test: (Value) -> Bool) -> Truth {
        switch self {
        case .absent: absent
        case .known(let value): Truth(test(value))
        case .unknown: .unknown
        }
    }
}

extension PolicyCondition {
    /// Whether the facts meet the condition.
    public func truth(of facts: PolicyFacts) -> Truth {
        switch self {
        case .text(let field, let patterns):
            facts[field].truth(absent: .no) { values in
                values.contains { value in patterns.contains { $0.matches(value) } }
            }
        case .uid(let ranges):
            facts.uid.truth(absent: .no) { uid in ranges.contains { $0.contains(uid) } }
        case .choice(let field, let mask):
            facts[field].truth(absent: .no) {
                $0 < field.count && mask & (1 << $0) != 0
            }
        case .boolean(let field, let wanted):
            facts[field].truth(absent: Truth(field.whenAbsent == wanted)) { $0 == wanted }
        case .flags([], []): .yes
        case .flags(let has, let lacks):
            facts.flags.truth(absent: Truth(has.isEmpty)) {
                $0.isSuperset(of: has) && $0.isDisjoint(with: lacks)
            }
        case .age(let field, let range):
            facts[field].truth(absent: .unknown) { range.contains($0) }
        case .time(let windows, let outside):
            facts.time.truth(absent: .unknown) { minute in
                windows.contains { $0.contains(minute) } != outside
            }
        case .date(let days): facts.date.truth(absent: .unknown) { days.contains($0) }
        }
    }
}

extension PolicyBox {
    public func truth(for operation: PolicyOperation, _ facts: PolicyFacts) -> Truth {
        let fields = conditions.lazy.map { $0.truth(of: facts) }.min() ?? .yes
        return min(Truth(operations.contains(operation)), fields)
    }
}

extension PolicyMatch {
    public func truth(for operation: PolicyOperation, _ facts: PolicyFacts) -> Truth {
        let exception = exceptions.map { $0.truth(for: operation, facts) }.max() ?? .no
        return min(box.truth(for: operation, facts), exception.negated)
    }
}
