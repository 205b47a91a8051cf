// SPDX-License-Identifier: Apache-2.0

/// A four-character attribute name as queries and results use it.
public struct AttributeName: RawRepresentable, Hashable, Sendable, Comparable {
    /// A short name, as all names of the item classes are, is one number: names are compared and
    /// passed on for each attribute of each item that is read.
    private enum Spelling: Hashable, Sendable {
        /// The bytes from the highest on, and their count in the lowest byte, so that numbers sort
        /// like names.
        case short(UInt64)
        case long([UInt8])
    }
    private static let longestShort = 7

    private let spelling: Spelling

    public init(rawValue: String) { self.init(rawValue.utf8Span) }

    init(_ text: UTF8Span) {
        spelling =
            text.count > Self.longestShort
            ? .long(Array(String(copying: text).utf8)) : .short(Self.number(of: text.span))
    }

    /// The number of a short name, or that of a long one's beginning, which sorts behind the short
    /// name of the same bytes.
    private static func number(of bytes: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for place in 0..<min(bytes.count, longestShort) {
            // Safe: the place is one of the name's, and below seven.
            number |= UInt64(bytes[place]) << (56 - 8 * UInt64(place))
        }
        return number | UInt64(min(bytes.count, longestShort + 1))
    }

    public var rawValue: String {
        switch spelling {
        case .long(let bytes): String(decoding: bytes, as: UTF8.self)
        case .short(let number): Self.text(number)
        }
    }

    package var byteCount: Int {
        switch spelling {
        case .long(let bytes): bytes.count
        // Safe: the lowest byte is at most seven.
        case .short(let number): Int(UInt8(truncatingIfNeeded: number))
        }
    }

    package func append(to bytes: inout [UInt8]) {
        switch spelling {
        case .long(let name): bytes.append(contentsOf: name)
        case .short(let number):
            // Safe: seven bytes at the most, so the shift is at least eight.
            for place in 0..<byteCount {
                bytes.append(UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64(place))))
            }
        }
    }

    private static func text(_ number: UInt64) -> String {
        let bytes = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        // Safe: the lowest byte is at most seven, and the bytes are those of a text.
        let name = bytes.span.extracting(0..<Int(bytes[longestShort]))
        guard let text = try? UTF8Span(validating: name) else { return "" }
        return String(copying: text)
    }

    // The default would compare texts, for which two spellings of a letter are equal.
    public static func == (a: Self, b: Self) -> Bool { a.spelling == b.spelling }
    public func hash(into hasher: inout Hasher) { hasher.combine(spelling) }

    public static func < (a: Self, b: Self) -> Bool {
        switch (a.spelling, b.spelling) {
        case (.short(let a), .short(let b)): a < b
        case (.long(let a), .long(let b)): a.lexicographicallyPrecedes(b)
        case (.short(let a), .long(let b)): a < number(of: b.span)
        case (.long(let a), .short(let b)): number(of: a.span) < b
        }
    }
}

extension AttributeName {
    private init(_ name: String) { self.init(rawValue: name) }

    public static let accessGroup = Self("agrp")
    public static let accessible = Self("pdmn")
    public static let accessControl = Self("accc")
    public static let access = Self("acls")
    public static let synchronizable = Self("sync")
    public static let creationDate = Self("cdat")
    public static let modificationDate = Self("mdat")
    public static let label = Self("labl")
    public static let alias = Self("alis")
    public static let tokenID = Self("tkid")
    public static let syncViewHint = Self("vwht")
    public static let multiUser = Self("musr")
    public static let sharingGroup = Self("ggrp")
    public static let tombstone = Self("tomb")
    public static let digest = Self("sha1")
    public static let uuid = Self("UUID")
    public static let sysBound = Self("sysb")
    public static let appClipItem = Self("clip")
    public static let noLegacy = Self("nleg")

    public static let account = Self("acct")
    public static let service = Self("svce")
    public static let generic = Self("gena")
    public static let itemDescription = Self("desc")
    public static let comment = Self("icmt")
    public static let creator = Self("crtr")
    public static let type = Self("type")
    public static let isInvisible = Self("invi")
    public static let isNegative = Self("nega")
    public static let hasCustomIcon = Self("cusi")
    public static let scriptCode = Self("scrp")
    public static let protected = Self("prot")

    public static let securityDomain = Self("sdmn")
    public static let server = Self("srvr")
    public static let networkProtocol = Self("ptcl")
    public static let authenticationType = Self("atyp")
    public static let port = Self("port")
    public static let path = Self("path")

    public static let certificateType = Self("ctyp")
    public static let certificateEncoding = Self("cenc")
    public static let subject = Self("subj")
    public static let issuer = Self("issr")
    public static let serialNumber = Self("slnr")
    public static let subjectKeyID = Self("skid")
    public static let publicKeyHash = Self("pkhh")

    public static let keyClass = Self("kcls")
    public static let applicationLabel = Self("klbl")
    public static let applicationTag = Self("atag")
    public static let keySize = Self("bsiz")
    public static let effectiveKeySize = Self("esiz")
    public static let startDate = Self("sdat")
    public static let endDate = Self("edat")
    public static let isPermanent = Self("perm")
    public static let isPrivate = Self("priv")
    public static let isModifiable = Self("modi")
    public static let isSensitive = Self("sens")
    public static let wasAlwaysSensitive = Self("asen")
    public static let isExtractable = Self("extr")
    public static let wasNeverExtractable = Self("next")
    public static let canEncrypt = Self("encr")
    public static let canDecrypt = Self("decr")
    public static let canDerive = Self("drve")
    public static let canSign = Self("sign")
    public static let canVerify = Self("vrfy")
    public static let canSignRecover = Self("snrc")
    public static let canVerifyRecover = Self("vyrc")
    public static let canWrap = Self("wrap")
    public static let canUnwrap = Self("unwp")

    /// The MIME type of the secret of an item of the class `attributed`.
    public static let contentType = Self("mime")
}

/// The names of pairs, of which an item of the class `attributed` may have any.
extension AttributeName {
    private static let pairPrefix = "pair:"

    public static func pair(_ name: String) -> AttributeName { Self(pairPrefix + name) }

    /// The name of the pair; nil for other attributes.
    public var pairName: String? {
        // Compared by bytes: the prefix's last byte may form one character with the name's first.
        let (name, prefix) = (rawValue.utf8, Self.pairPrefix.utf8)
        guard name.starts(with: prefix) else { return nil }
        return String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
    }

    /// The item's `Type`: the name of a schema that tells its purpose.
    public static let schema = pair("xdg:schema")
}

/// The value of an attribute, in the type it was given in.
///
/// Text compares by its UTF-8 bytes: no case folding, no Unicode normalisation.
public enum AttributeValue: Sendable {
    case string(String)
    case data([UInt8])
    case number(Int64)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    /// A number with a fraction.
    case real(Double)

    /// The bytes that hashed attributes compare: a text and data of the same bytes are equal.
    public var comparedBytes: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number): Array(String(number).utf8)
        case .date(let seconds), .real(let seconds):
            withoutSign(seconds).littleEndianBytes
        }
    }

    /// Whether the compared bytes are empty.
    public var isEmptyCompared: Bool {
        switch self {
        case .string(let text): text.utf8.isEmpty
        case .data(let bytes): bytes.isEmpty
        case .number, .date, .real: false
        }
    }

    /// Whether both have the same compared bytes.
    public func isSameCompared(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.data(let a), .data(let b)): a == b
        default: comparedBytes == other.comparedBytes
        }
    }

    private func withoutSign(_ value: Double) -> UInt64 { (value == 0 ? 0 : value).bitPattern }
}

extension AttributeValue: Hashable {
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.data(let a), .data(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.date(let a), .date(let b)), (.real(let a), .real(let b)): a == b
        case (.string, _), (.data, _), (.number, _), (.date, _), (.real, _): false
        }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(comparedBytes) }
}

extension UInt64 {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}

/// The type of value that an attribute takes, and how values are converted (docs/secitem.md, How a
/// query value is converted).
public enum AttributeKind: Sendable, Hashable {
    case blob, data, string, number, date, uuid

    /// Whether a converted value may be of this type.
    public func includes(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (.blob, .date), (.number, .data), (.number, .date): false
        case (.blob, _), (.number, _), (.data, .data), (.uuid, .data), (.string, .string),
            (.date, .date):
            true
        case (.data, _), (.uuid, _), (.string, _), (.date, _): false
        }
    }
}

/// One row of the attribute tables (docs/secitem.md, Attributes). A class, as rows are looked up
/// for each attribute of each item that is read.
public final class AttributeRule: Sendable {
    /// How SecItemUpdate treats the attribute.
    public enum Update: Sendable, Hashable {
        case accepted
        case ignored
        case refused
        /// Accepted, and then set by the store.
        case overwritten
    }

    public let name: AttributeName
    public let kind: AttributeKind
    /// Whether it is a part of the uniqueness key.
    public let isKey: Bool
    /// Whether only bytes are compared, so that a text and data of the same bytes match.
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

/// The rules of one class, by name.
public struct AttributeRules: Sendable {
    /// In the order of their names.
    public let all: [AttributeRule]

    init(_ rules: [AttributeRule]) { all = rules.sorted { $0.name < $1.name } }

    // Inlined, a look-up in one of the tables below counts no reference to it.
    @inline(__always)
    public subscript(_ name: AttributeName) -> AttributeRule? {
        let place = partitionPoint(of: all.count) { all[$0].name < name }
        // Safe: the place was compared with the count.
        guard place < all.count, all[place].name == name else { return nil }
        return all[place]
    }
}

extension ItemClass {
    /// The rule for any attribute that an item of the class can have.
    public func rule(for name: AttributeName) -> AttributeRule? {
        switch self {
        case .genericPassword: Self.genericRules[name]
        case .internetPassword: Self.internetRules[name]
        case .certificate: Self.certificateRules[name]
        case .key: Self.keyRules[name]
        case .attributed:
            Self.attributedRules[name] ?? (name.pairName != nil ? Self.pairRule : nil)
        }
    }

    /// Of new items of which nothing else is said. Certificates are not secret.
    public var defaultAccessibility: Accessibility {
        self == .certificate ? .always : .whenUnlocked
    }

    /// Throws where an item of the class can't have these attributes.
    public func check(_ attributes: Attributes) throws(RequestError) {
        for (name, value) in attributes {
            guard let rule = rule(for: name) else { throw .invalid(.noSuchAttribute) }
            guard rule.kind.includes(value) else { throw .invalid(.badRequest) }
        }
    }

    /// Every attribute the class has, except accessibility, access control and pairs, by name.
    public var attributeRules: AttributeRules {
        switch self {
        case .genericPassword: Self.genericRules
        case .internetPassword: Self.internetRules
        case .certificate: Self.certificateRules
        case .key: Self.keyRules
        case .attributed: Self.attributedRules
        }
    }

    /// The uniqueness key's attributes in a fixed order; none where items may be equal.
    public var keyAttributes: [AttributeRule] {
        switch self {
        case .genericPassword: Self.genericKey
        case .internetPassword: Self.internetKey
        case .certificate: Self.certificateKey
        case .key: Self.keyKey
        case .attributed: []
        }
    }

    private static let genericRules = AttributeRules(shared + password + generic)
    private static let internetRules = AttributeRules(shared + password + internet)
    private static let certificateRules = AttributeRules(shared + ofCertificates)
    private static let keyRules = AttributeRules(shared + ofKeys)
    private static let attributedRules = AttributeRules(ofAttributed)
    private static let pairRule = AttributeRule(.pair(""), .string)
    private static let genericKey = genericRules.all.filter(\.isKey)
    private static let internetKey = internetRules.all.filter(\.isKey)
    private static let certificateKey = certificateRules.all.filter(\.isKey)
    private static let keyKey = keyRules.all.filter(\.isKey)

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

    private static let ofAttributed: [AttributeRule] = [
        AttributeRule(.accessGroup, .string),
        AttributeRule(.creationDate, .date),
        AttributeRule(.modificationDate, .date, update: .overwritten),
        AttributeRule(.label, .string),
        AttributeRule(.contentType, .string),
        // For an import: the item's number, and the date of change in its source.
        AttributeRule(.type, .number),
        AttributeRule(.creator, .number),
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

    /// The Boolean attributes of a key.
    private static let keyFacts: [AttributeName] = [
        .isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive,
        .isExtractable, .wasNeverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign,
        .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap,
    ]
}
