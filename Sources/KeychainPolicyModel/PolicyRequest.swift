// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

// A request is the facts about one operation on one item at the time of the decision. The code that
// makes a fact with a host name writes it in lower case.

/// A fact is known, absent, or could not be established. Absent and unknown are never treated
/// alike.
public enum Fact<Value: Sendable & Hashable>: Sendable, Hashable {
    case absent
    case known(Value)
    case unknown
}

/// The method of a proof.
public enum PolicyMethod: Sendable, Hashable {
    case factor(PolicyFactor)
    case pam(PolicyText)
}

/// A proof, and how it may serve this request. Proofs that belong to other programs or items
/// (`confirm` is bound to both) are left out by the code that makes the request.
public struct PolicyProof: Sendable, Hashable {
    public var method: PolicyMethod
    public var age: PolicyDuration
    /// The narrowest scope that the proof shares with this request.
    public var scope: Freshness

    public init(_ method: PolicyMethod, age: PolicyDuration, scope: Freshness) {
        self.method = method
        self.age = age
        self.scope = scope
    }
}

/// One operation on one item, with every fact that its decision may depend on.
///
/// `interactive` is the fact of that name: whether a user could answer.
public struct PolicyRequest: Sendable, Hashable {
    public var operation: PolicyOperation
    /// For `add` and `update` the facts of the item after the operation.
    public var facts: PolicyFacts
    /// For `update`: the item's facts before it. Its resource facts, flags and constraint are read,
    /// and `member` where it is set.
    public var before: PolicyFacts?
    public var evidence: [PolicyProof]
    /// Used where the facts have no date.
    private let today: Int32
    /// Today's local date in days since 1970-01-01.
    public var day: Int32 { if case .known(let date) = facts.date { date } else { today } }

    public init(
        _ operation: PolicyOperation, facts: PolicyFacts, before: PolicyFacts? = nil,
        evidence: [PolicyProof] = [], day: Int32
    ) {
        self.operation = operation
        self.facts = facts
        self.before = before
        self.evidence = evidence
        today = day
    }
}

extension PolicyRequest {
    /// All operations that the request must be allowed: reading a key is a read and an export, and
    /// an update also concerns the item before it.
    package var cases: [(operation: PolicyOperation, facts: PolicyFacts)] {
        var facts = facts
        if facts.date == .absent { facts.date = .known(today) }
        let itself = (operation: operation, facts: facts)
        switch operation {
        case .readSecret where facts[.itemClass].mayBe(ChoiceField.keyClass):
            return [itself, (.export, facts)]
        case .update:
            return [itself] + (before.map { [(operation, facts.with(item: $0))] } ?? [])
        default:
            return [itself]
        }
    }
}

extension Fact {
    package func mayBe(_ value: Value) -> Bool {
        switch self {
        case .absent: false
        case .known(let own): own == value
        case .unknown: true
        }
    }
}

extension PolicyProof {
    /// Whether the method shows that the user was there; a confirmation and a login do not.
    package var provesPresence: Bool {
        guard case .factor(let factor) = method else { return false }
        return factor != .confirm && factor != .appPassword && factor != .login
    }
}

/// The facts of an item for policies (docs/policies.md, Resource: which item). Each is read from
/// the item only when it is asked for.
public struct PolicyItem: Sendable {
    public let itemClass: ItemClass
    public let attributes: Attributes
    public let accessGroup: String
    public let rights: ItemAccessControl
    /// The keychain's name.
    public let keychain: String

    public init(
        _ itemClass: ItemClass, _ attributes: Attributes, accessGroup: String,
        rights: ItemAccessControl, keychain: String
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.rights = rights
        self.keychain = keychain
    }

    /// A text of the item; nil where the item has none.
    package func text(_ field: TextField) -> PolicyText? {
        switch field {
        case .keychain: PolicyText(keychain)
        case .accessGroup: PolicyText(accessGroup)
        case .service: text(of: .service)
        case .account: text(of: .account)
        case .itemLabel: text(of: .label)
        case .creator: text(of: .creator)
        case .schema: text(of: .schema)
        case .server: text(of: .server).map { PolicyText($0.string.lowercased()) }
        case .networkProtocol:
            text(of: .networkProtocol).map { PolicyText(Self.protocols[$0.string] ?? $0.string) }
        case .user, .group, .exe, .digest, .unit, .slice, .userUnit, .app, .label, .host,
            .pamService:
            nil
        }
    }

    private func text(of name: AttributeName) -> PolicyText? {
        attributes[name]?.policyText.map { PolicyText($0) }
    }

    /// Adds all facts but the texts.
    package func addChoices(to facts: inout PolicyFacts) {
        facts[.itemClass] = .known(itemClass.policyIndex)
        facts[.accessible] = .known(rights.protection.policyIndex)
        var flags = rights.policyFlags
        if attributes[.synchronizable] == .number(1) { flags.insert(.synchronizable) }
        facts.flags = .known(flags)
    }

    /// All facts about the item.
    public var facts: PolicyFacts {
        var facts = PolicyFacts()
        for field in TextField.ofItem {
            if let text = text(field) { facts[field] = .known([text]) }
        }
        addChoices(to: &facts)
        return facts
    }

    /// Apple's four letters, and the names that people write.
    private static let protocols = [
        "htps": "https", "http": "http", "ssh ": "ssh", "ftp ": "ftp", "ftps": "ftps",
        "smtp": "smtp", "imap": "imap", "imps": "imaps", "pop3": "pop3", "ldap": "ldap",
        "ldps": "ldaps", "smb ": "smb", "afp ": "afp", "irc ": "irc", "sock": "socks",
        "rtsp": "rtsp", "dnss": "dns",
    ]
}

extension AttributeValue {
    /// The value as text; nil where it has no such form.
    fileprivate var policyText: String? {
        switch self {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number(let number): String(number)
        case .date, .real: nil
        }
    }
}

extension ItemClass {
    /// The index of its word in `ChoiceField.itemClass.words`.
    fileprivate var policyIndex: UInt8 {
        switch self {
        case .genericPassword: 0
        case .internetPassword: 1
        case .key: ChoiceField.keyClass
        case .certificate: 3
        case .attributed: 5
        }
    }
}

extension Accessibility {
    /// The index of its word in `ChoiceField.accessible.words`.
    fileprivate var policyIndex: UInt8 { rawValue }
}

extension ItemAccessControl {
    fileprivate var policyFlags: PolicyItemFlags {
        var flags: PolicyItemFlags = []
        for constraint in operations.values { flags.formUnion(constraint.policyFlags) }
        if let defaultOperation { flags.formUnion(defaultOperation.policyFlags) }
        if needsApplicationPassword { flags.insert(.applicationPassword) }
        if operations[.sign] != nil { flags.insert(.privateKeyUsage) }
        return flags
    }
}

extension Constraint {
    fileprivate var policyFlags: PolicyItemFlags {
        switch self {
        case .always, .never: []
        case .userPresence: .userPresence
        case .devicePasscode: .devicePasscode
        case .biometryAny: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .companion: .companion
        case .atLeast(_, let members):
            members.reduce(into: []) { $0.formUnion($1.policyFlags) }
        }
    }
}

extension PolicyItemFlags {
    fileprivate static let userPresence = named("user-presence")
    fileprivate static let devicePasscode = named("device-passcode")
    fileprivate static let biometryAny = named("biometry-any")
    fileprivate static let biometryCurrentSet = named("biometry-current-set")
    fileprivate static let companion = named("companion")
    fileprivate static let applicationPassword = named("application-password")
    fileprivate static let privateKeyUsage = named("private-key-usage")
    fileprivate static let synchronizable = named("synchronizable")

    private static func named(_ word: String) -> Self { Self(word: word) ?? [] }
}

/// The facts about the subject, the item and the environment; absent unless set: `facts[.exe] =
/// .known(["/usr/bin/git"])`, `facts[.group] = .unknown`.
///
/// A request copies and changes them several times, so all but the texts are stored inline.
public struct PolicyFacts: Sendable, Hashable {
    /// One for each field; empty as long as all are absent.
    private var texts: [Fact<[PolicyText]>] = []
    private var choices = FactDigits(bitsEach: 10)
    private var booleans = FactDigits(bitsEach: 2)
    private var sessionAge: Fact<PolicyDuration> = .absent
    private var presenceAge: Fact<PolicyDuration> = .absent
    public var uid: Fact<UInt32> = .absent
    /// Absent means that no flag is set.
    public var flags: Fact<PolicyItemFlags> = .absent
    public var time: Fact<MinuteOfWeek> = .absent
    /// In days since 1970-01-01, local. Absent means the request's day.
    public var date: Fact<Int32> = .absent
    /// The requirement of the item's own access control for the operation.
    public var constraint: PolicyItemConstraint = .none
    /// The item's own list of programs, and not a group or a share, lets the subject know of the
    /// item. No rule reads this fact; it replaces only a `share`.
    public var isLetIn = false

    public init() {}

    /// One value for all fields but `group`. A known, empty list counts as absent.
    public subscript(field: TextField) -> Fact<[PolicyText]> {
        get { texts.isEmpty ? .absent : texts[Int(field.rawValue)] }
        set {
            if texts.isEmpty {
                if newValue == .absent { return }
                texts = [Fact<[PolicyText]>](repeating: .absent, count: TextField.allCases.count)
            }
            texts[Int(field.rawValue)] = newValue
            // Equal facts must compare as equal, so a list of absent texts is emptied.
            if newValue == .absent, texts.allSatisfy({ $0 == .absent }) { texts = [] }
        }
    }

    public subscript(field: ChoiceField) -> Fact<UInt8> {
        get { choices[field.rawValue].map { UInt8(truncatingIfNeeded: $0) } }
        set { choices[field.rawValue] = newValue.map { UInt64($0) } }
    }

    public subscript(field: BooleanField) -> Fact<Bool> {
        get { booleans[field.rawValue].map { $0 == 1 } }
        set { booleans[field.rawValue] = newValue.map { $0 ? 1 : 0 } }
    }

    /// False also where the fact could not be established.
    package func isTrue(_ field: BooleanField) -> Bool {
        switch self[field] {
        case .known(let value): value
        case .absent: field.whenAbsent
        case .unknown: false
        }
    }

    public subscript(field: AgeField) -> Fact<PolicyDuration> {
        get { field == .session ? sessionAge : presenceAge }
        set {
            switch field {
            case .session: sessionAge = newValue
            case .presence: presenceAge = newValue
            }
        }
    }

    /// Whether both have the same texts of the subject and the environment.
    package func hasTextsOfSubject(of other: PolicyFacts) -> Bool {
        texts == other.texts || TextField.ofSubject.allSatisfy { self[$0] == other[$0] }
    }

    /// The same subject and environment with another item. Membership depends on the item's group,
    /// so the item's own fact of it counts where there is one.
    public func with(item: PolicyFacts) -> PolicyFacts {
        var mixed = self
        if item[.member] != .absent { mixed[.member] = item[.member] }
        for field in TextField.allCases where field.block == .resource {
            mixed[field] = item[field]
        }
        for field in ChoiceField.allCases where field.block == .resource {
            mixed[field] = item[field]
        }
        mixed.flags = item.flags
        mixed.constraint = item.constraint
        mixed.isLetIn = item.isLetIn
        return mixed
    }
}

extension BooleanField {
    /// The value that an absent fact counts as.
    public var whenAbsent: Bool { self == .member || self == .interactive }
}

/// Facts with few values, packed into one number with `bitsEach` bits each: 0 is absent, 1 is
/// unknown, and a value v is v + 2.
private struct FactDigits: Sendable, Hashable {
    private let bitsEach: UInt64
    private var digits: UInt64 = 0

    init(bitsEach: UInt64) { self.bitsEach = bitsEach }

    subscript(place: UInt8) -> Fact<UInt64> {
        get {
            let digit = digits >> (UInt64(place) * bitsEach) & (1 << bitsEach - 1)
            return switch digit {
            case 0: .absent
            case 1: .unknown
            default: .known(digit - 2)
            }
        }
        set {
            let shift = UInt64(place) * bitsEach
            let digit: UInt64 =
                switch newValue {
                case .absent: 0
                case .unknown: 1
                case .known(let value): value + 2
                }
            digits = digits & ~((1 << bitsEach - 1) << shift) | digit << shift
        }
    }
}

extension Fact {
    fileprivate func map<Other>(_ change: (Value) -> Other) -> Fact<Other> {
        switch self {
        case .absent: .absent
        case .unknown: .unknown
        case .known(let value): .known(change(value))
        }
    }
}
