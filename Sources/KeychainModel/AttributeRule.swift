// SPDX-License-Identifier: Apache-2.0

/// What kind of value an attribute takes, and what becomes of it (docs/secitem.md, How a query value
/// is converted).
public enum AttributeKind: Sendable, Hashable {
    case blob, data, string, number, date, uuid
}

/// One row of the attribute tables (docs/secitem.md, Attributes). An object, as rows are looked up
/// for each attribute of each item that is read.
public final class AttributeRule: Sendable {
    /// Whether SecItemUpdate takes it.
    public enum Update: Sendable, Hashable {
        case accepted
        case ignored
        case refused
        /// Accepted, and then set by the store.
        case overwritten
    }

    public let name: AttributeName
    public let kind: AttributeKind
    /// Part of the uniqueness key.
    public let isKey: Bool
    /// Compared by bytes alone, so that a text and data of the same bytes match.
    public let isHashed: Bool
    /// The value an absent attribute counts as in the uniqueness key, and is stored with.
    public let defaultValue: AttributeValue?
    public let update: Update

    init(
        _ name: AttributeName, _ kind: AttributeKind, key: Bool = false, hashed: Bool = false,
        default defaultValue: AttributeValue? = nil, update: Update = .accepted
    ) {
        self.name = name
        self.kind = kind
        self.isKey = key
        self.isHashed = hashed
        self.defaultValue = defaultValue
        self.update = update
    }
}

extension ItemClass {
    /// Every attribute the class has, except accessibility and access control, by name.
    public var attributeRules: [AttributeName: AttributeRule] {
        switch self {
        case .genericPassword: Self.genericRules
        case .internetPassword: Self.internetRules
        case .certificate: Self.certificateRules
        case .key: Self.keyRules
        }
    }

    /// The uniqueness key's attributes in a fixed order.
    public var keyAttributes: [AttributeRule] {
        switch self {
        case .genericPassword: Self.genericKey
        case .internetPassword: Self.internetKey
        case .certificate: Self.certificateKey
        case .key: Self.keyKey
        }
    }

    private static let genericRules = table(shared + password + generic)
    private static let internetRules = table(shared + password + internet)
    private static let certificateRules = table(shared + ofCertificates)
    private static let keyRules = table(shared + ofKeys)
    private static let genericKey = key(genericRules)
    private static let internetKey = key(internetRules)
    private static let certificateKey = key(certificateRules)
    private static let keyKey = key(keyRules)

    private static func table(_ rules: [AttributeRule]) -> [AttributeName: AttributeRule] {
        // Safe: the rules are written down below, each name once.
        Dictionary(uniqueKeysWithValues: rules.map { ($0.name, $0) })
    }

    private static func key(_ rules: [AttributeName: AttributeRule]) -> [AttributeRule] {
        rules.values.filter(\.isKey).sorted { $0.name < $1.name }
    }

    private static let shared: [AttributeRule] = [
        AttributeRule(.accessGroup, .string, key: true),
        AttributeRule(.synchronizable, .number, key: true, default: .number(0)),
        AttributeRule(.creationDate, .date),
        AttributeRule(.modificationDate, .date, update: .overwritten),
        AttributeRule(.label, .blob, hashed: true),
        AttributeRule(.alias, .blob, hashed: true),
        AttributeRule(.tokenID, .string, key: true),
        AttributeRule(.syncViewHint, .string, key: true),
        AttributeRule(.multiUser, .uuid, key: true, update: .ignored),
        AttributeRule(.sharingGroup, .string, key: true, update: .refused),
        AttributeRule(.tombstone, .number),
        AttributeRule(.digest, .data),
        AttributeRule(.uuid, .string),
        AttributeRule(.sysBound, .number),
    ]

    private static let password: [AttributeRule] = [
        AttributeRule(.account, .blob, key: true, hashed: true, default: .string("")),
        AttributeRule(.itemDescription, .blob, hashed: true),
        AttributeRule(.comment, .blob, hashed: true),
        AttributeRule(.creator, .number),
        AttributeRule(.type, .number),
        AttributeRule(.isInvisible, .number),
        AttributeRule(.isNegative, .number),
        AttributeRule(.hasCustomIcon, .number),
        AttributeRule(.scriptCode, .number),
        AttributeRule(.protected, .blob, hashed: true),
    ]

    private static let generic: [AttributeRule] = [
        AttributeRule(.service, .blob, key: true, hashed: true, default: .string("")),
        AttributeRule(.generic, .blob, hashed: true),
    ]

    private static let internet: [AttributeRule] = [
        AttributeRule(.securityDomain, .blob, key: true, hashed: true, default: .string("")),
        AttributeRule(.server, .blob, key: true, hashed: true, default: .string("")),
        AttributeRule(.networkProtocol, .number, key: true, default: .number(0)),
        AttributeRule(.authenticationType, .blob, key: true, hashed: true, default: .string("")),
        AttributeRule(.port, .number, key: true, default: .number(0)),
        AttributeRule(.path, .blob, key: true, hashed: true, default: .string("")),
    ]

    private static let ofCertificates: [AttributeRule] = [
        AttributeRule(.certificateType, .number, key: true, default: .number(0)),
        AttributeRule(.certificateEncoding, .number),
        AttributeRule(.subject, .data, hashed: true),
        AttributeRule(.issuer, .data, key: true, hashed: true, default: .data([])),
        AttributeRule(.serialNumber, .data, key: true, hashed: true, default: .data([])),
        AttributeRule(.subjectKeyID, .data, hashed: true),
        AttributeRule(.publicKeyHash, .data),
    ]

    private static let ofKeys: [AttributeRule] =
        [
            AttributeRule(.keyClass, .number, key: true, hashed: true, default: .number(0)),
            AttributeRule(.applicationLabel, .data, key: true, default: .data([])),
            AttributeRule(.applicationTag, .blob, key: true, hashed: true, default: .string("")),
            AttributeRule(.creator, .number, key: true, default: .number(0)),
            AttributeRule(.type, .number, key: true, default: .number(0)),
            AttributeRule(.keySize, .number, key: true, default: .number(0)),
            AttributeRule(.effectiveKeySize, .number, key: true, default: .number(0)),
            AttributeRule(.startDate, .date, key: true, default: .date(0)),
            AttributeRule(.endDate, .date, key: true, default: .date(0)),
        ] + keyFacts.map { AttributeRule($0, .number) }

    /// What is true of a key or not.
    private static let keyFacts: [AttributeName] = [
        .isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive,
        .isExtractable, .wasNeverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign,
        .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap,
    ]
}
