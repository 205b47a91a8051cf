// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainRows
internal import KeychainSecrets

/// An item without its secret: the content of its sealed attributes.
struct AttributeRecord: Sendable, Equatable {
    /// All attributes but group, synchronizable and dates.
    var attributes: Attributes
    var group: String
    var isSynchronizable: Bool
    /// An item without a secret differs from one whose secret is empty.
    var hasSecret: Bool
    /// Seconds since 2001.
    var created: Double
    var modified: Double
    var accessControl: ItemAccessControl
    /// Programs that may use the item beside those of its group; nil where the item has no list.
    var trusted: TrustList?

    /// Attributes that the record keeps in fields of its own.
    private static let ownFields: Set<AttributeName> = [
        .accessGroup, .synchronizable, .creationDate, .modificationDate, .accessible,
        .accessControl, .access,
    ]

    /// Attributes that an answer has beside `attributes`.
    static let fieldsOfAnswers: [AttributeName] = [
        .accessGroup, .synchronizable, .creationDate, .modificationDate,
    ]

    var allAttributes: Attributes {
        var all = attributes
        for name in Self.fieldsOfAnswers { all[name] = self[name] }
        return all
    }

    subscript(_ name: AttributeName) -> AttributeValue? {
        switch name {
        case .accessGroup: .string(group)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        case .creationDate: .date(created)
        case .modificationDate: .date(modified)
        default: attributes[name]
        }
    }
}

extension AttributeRecord {
    /// Absent attributes get the defaults of their rules. The store sets the dates; an item of the
    /// class `attributed` may name its own, as it may come from elsewhere.
    init(
        new item: NewItem, in group: String, _ accessControl: ItemAccessControl,
        trusting trusted: TrustList? = nil
    ) {
        var attributes = item.attributes
        for rule in item.itemClass.attributeRules.all {
            if let value = rule.defaultValue, attributes[rule.name] == nil {
                attributes[rule.name] = value
            }
        }
        for name in Self.ownFields { attributes[name] = nil }
        let dates = item.itemClass == .attributed ? item.attributes : [:]
        self.init(
            attributes: attributes, group: group, isSynchronizable: item.isSynchronizable,
            hasSecret: false, created: dates.date(.creationDate),
            modified: dates.date(.modificationDate), accessControl: accessControl,
            trusted: trusted)
    }

    /// Applies the change, by the rules of the item's class.
    mutating func apply(
        _ change: ItemChange, _ itemClass: ItemClass
    ) throws(KeychainStoreError) {
        if change.replacesPairs {
            guard itemClass == .attributed else { throw .badChange }
            attributes = attributes.filter { $0.key.pairName == nil }
        }
        for (name, value) in change.attributes where name != .accessible && name != .accessControl {
            guard let rule = itemClass.rule(for: name), rule.kind.includes(value) else {
                throw .badChange
            }
            switch (rule.update, name) {
            case (.refused, _): throw .badChange
            case (.ignored, _), (.overwritten, _): continue
            case (.accepted, .creationDate):
                guard case .date(let date) = value, date.isFinite else { throw .badChange }
                created = date
            // Both are fields of the change, beside its attributes.
            case (.accepted, .accessGroup), (.accepted, .synchronizable): continue
            case (.accepted, _): attributes[name] = value
            }
        }
        if let group = change.accessGroup { self.group = group }
        if let synchronizable = change.isSynchronizable { isSynchronizable = synchronizable }
        accessControl = change.applied(to: accessControl)
        if itemClass == .attributed { try checkLimits() }
    }

    /// The result may exceed limits that the change itself keeps.
    private func checkLimits() throws(KeychainStoreError) {
        do throws(RequestError) { try AttributedLimits.check(attributes) } catch {
            throw error == .invalid(.dataTooLarge) ? .tooLarge : .badChange
        }
    }

    /// The modification date of a change made now: always later than the one before.
    static func modificationDate(after old: Double, now: Double) -> Double {
        max(now, old + 0.001)
    }
}

extension Attributes {
    /// Returns 0 where there is no date.
    fileprivate func date(_ name: AttributeName) -> Double {
        guard case .date(let seconds)? = self[name], seconds.isFinite else { return 0 }
        return seconds
    }
}

/// The bytes that an attribute record is sealed as. A record has exactly one encoding: names in
/// order, no bit without a meaning, no bytes after the end.
///
/// version ‖ flags ‖ created ‖ modified ‖ rights ‖ group ‖ count ‖ (name ‖ type ‖ value)… ‖ trusted
/// applications, where there is a list
extension AttributeRecord {
    static let version: UInt8 = 1
    /// Bytes of all attributes of an item together.
    static let largest = KeychainTables.largestAttributes
    static let mostAttributes = 256
    /// Bytes of an access group: most are a program's identity.
    static let longestGroup = TrustedApplication.longestIdentity

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let synchronizable = Flags(rawValue: 1)
        static let secret = Flags(rawValue: 2)
        static let trusted = Flags(rawValue: 16)
        static let known: Flags = [.synchronizable, .secret, .trusted]
    }

    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard attributes.count <= Self.mostAttributes, group.utf8.count <= Self.longestGroup
        else { throw .tooLarge }
        var flags: Flags = []
        if isSynchronizable { flags.insert(.synchronizable) }
        if hasSecret { flags.insert(.secret) }
        if trusted != nil { flags.insert(.trusted) }
        var bytes: [UInt8] = [Self.version, flags.rawValue]
        bytes.append(littleEndian: created.bitPattern)
        bytes.append(littleEndian: modified.bitPattern)
        bytes.append(block: try accessControl.encoded())
        bytes.append(block: group.utf8)
        // Safe: there are at most 256, as was checked.
        bytes.append(littleEndian: UInt16(attributes.count))
        for (name, value) in attributes {
            bytes.append(name: name)
            bytes.append(value.typeByte)
            bytes.append(block: value.storedBytes)
        }
        if let trusted { bytes.append(block: try trusted.encoded()) }
        guard bytes.count <= Self.largest else { throw .tooLarge }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        guard bytes.count <= Self.largest else { throw MalformedBytes() }
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version else { throw MalformedBytes() }
        let flags = Flags(rawValue: try reader.byte())
        guard flags.isSubset(of: .known) else { throw MalformedBytes() }
        let created = Double(bitPattern: try reader.number(UInt64.self))
        let modified = Double(bitPattern: try reader.number(UInt64.self))
        guard created.isFinite, modified.isFinite else { throw MalformedBytes() }
        let accessControl = try ItemAccessControl(decoding: try reader.block())
        let group = try reader.text()
        guard group.utf8.count <= Self.longestGroup else { throw MalformedBytes() }
        let attributes = try Self.attributes(&reader)
        let trusted =
            flags.contains(.trusted) ? try TrustList(decoding: Array(try reader.block())) : nil
        guard reader.isAtEnd else { throw MalformedBytes() }
        self.init(
            attributes: attributes, group: group,
            isSynchronizable: flags.contains(.synchronizable),
            hasSecret: flags.contains(.secret), created: created, modified: modified,
            accessControl: accessControl, trusted: trusted)
    }

    private static func attributes(
        _ reader: inout ByteReader
    ) throws(MalformedBytes) -> Attributes {
        let count = Int(try reader.number(UInt16.self))
        guard count <= mostAttributes else { throw MalformedBytes() }
        // The record's own fields are added to these for an answer.
        var attributes = Attributes(minimumCapacity: count + fieldsOfAnswers.count)
        var previous: AttributeName?
        for _ in 0..<count {
            let name = try reader.name()
            if let previous, !(previous < name) { throw MalformedBytes() }
            let type = try reader.byte()
            attributes[name] = try AttributeValue(type: type, &reader)
            previous = name
        }
        return attributes
    }
}

extension AttributeValue {
    var typeByte: UInt8 {
        switch self {
        case .string: 1
        case .data: 2
        case .number: 3
        case .date: 4
        case .real: 5
        }
    }

    fileprivate var storedBytes: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number): UInt64(bitPattern: number).littleEndianBytes
        case .date(let value), .real(let value): value.bitPattern.littleEndianBytes
        }
    }

    fileprivate init(type: UInt8, _ reader: inout ByteReader) throws(MalformedBytes) {
        switch type {
        case 1: self = .string(try reader.text())
        case 2: self = .data(Array(try reader.block()))
        case 3: self = .number(Int64(bitPattern: try Self.eight(&reader)))
        case 4: self = .date(Double(bitPattern: try Self.eight(&reader)))
        case 5: self = .real(Double(bitPattern: try Self.eight(&reader)))
        default: throw MalformedBytes()
        }
    }

    private static func eight(_ reader: inout ByteReader) throws(MalformedBytes) -> UInt64 {
        guard try reader.number(UInt32.self) == 8 else { throw MalformedBytes() }
        return try reader.number(UInt64.self)
    }
}

/// An item's rights as bytes: part of its attributes, and hashed into what its secret is bound to.
///
/// protection ‖ flags ‖ default constraint, if any ‖ count ‖ (operation ‖ constraint)… ‖ what was
/// enrolled, where it is bound to that
extension ItemAccessControl {
    private static let passwordFlag: UInt8 = 1
    private static let defaultFlag: UInt8 = 2
    private static let boundFlag: UInt8 = 4
    private static let biometryBytes = 32
    private static let usualBytes = 16
    /// The bytes of access control that asks for nothing, as most items have.
    private static let plainBytes = Accessibility.allCases.map {
        [$0.rawValue, defaultFlag, Constraint.always.code, 0]
    }
    private static let plainFingerprints = plainBytes.map { KeyedHash.fingerprint($0) }

    /// The fingerprint that the item's secret is bound to.
    func fingerprint() throws(KeychainStoreError) -> [UInt8] {
        // Safe: all cases are there, in the order of their numbers.
        if self == .plain(protection) { return Self.plainFingerprints[Int(protection.rawValue)] }
        return KeyedHash.fingerprint(try encoded())
    }

    func encoded() throws(KeychainStoreError) -> [UInt8] {
        // Safe: all cases are there, in the order of their numbers.
        if self == .plain(protection) { return Self.plainBytes[Int(protection.rawValue)] }
        var flags: UInt8 = needsApplicationPassword ? Self.passwordFlag : 0
        if defaultOperation != nil { flags |= Self.defaultFlag }
        if !boundBiometry.isEmpty { flags |= Self.boundFlag }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.usualBytes)
        bytes.append(protection.rawValue)
        bytes.append(flags)
        if let defaultOperation { try defaultOperation.encode(into: &bytes, depth: 0) }
        // Safe: there are seven operations.
        bytes.append(UInt8(operations.count))
        for operation in ItemOperation.allCases {
            guard let constraint = operations[operation] else { continue }
            bytes.append(operation.code)
            try constraint.encode(into: &bytes, depth: 0)
        }
        guard boundBiometry.isEmpty || boundBiometry.count == Self.biometryBytes else {
            throw .tooLarge
        }
        bytes += boundBiometry
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        try self.init(decoding: ArraySlice(bytes))
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard let protection = Accessibility(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        let flags = try reader.byte()
        guard flags <= Self.passwordFlag | Self.defaultFlag | Self.boundFlag else {
            throw MalformedBytes()
        }
        let isDefaultGiven = flags & Self.defaultFlag != 0
        let defaultOperation = isDefaultGiven ? try Constraint(&reader, depth: 0) : nil
        var operations: [ItemOperation: Constraint] = [:]
        var previous: UInt8 = 0
        for _ in 0..<(try reader.byte()) {
            let code = try reader.byte()
            guard code > previous,
                let operation = ItemOperation(code: code)
            else { throw MalformedBytes() }
            operations[operation] = try Constraint(&reader, depth: 0)
            previous = code
        }
        var biometry: [UInt8] = []
        if flags & Self.boundFlag != 0 { biometry = Array(try reader.take(Self.biometryBytes)) }
        guard reader.isAtEnd else { throw MalformedBytes() }
        self.init(
            protection: protection, operations: operations, defaultOperation: defaultOperation,
            needsApplicationPassword: flags & Self.passwordFlag != 0, boundBiometry: biometry)
    }
}

extension Constraint {
    fileprivate func encode(
        into bytes: inout [UInt8], depth: Int
    ) throws(KeychainStoreError) {
        guard depth < Self.largestDepth else { throw .tooLarge }
        bytes.append(code)
        guard case .atLeast(let required, let members) = self else { return }
        guard members.count <= Self.mostMembers, let required = Int32(exactly: required)
        else { throw .tooLarge }
        bytes += UInt32(bitPattern: required).littleEndianBytes
        // Safe: there are at most as many as were checked.
        bytes.append(UInt8(members.count))
        for member in members { try member.encode(into: &bytes, depth: depth + 1) }
    }

    fileprivate init(_ reader: inout ByteReader, depth: Int) throws(MalformedBytes) {
        guard depth < Self.largestDepth else { throw MalformedBytes() }
        let code = try reader.byte()
        guard code == Self.groupCode else {
            guard let plain = Constraint(code: code) else { throw MalformedBytes() }
            self = plain
            return
        }
        let required = Int32(bitPattern: try reader.number(UInt32.self))
        let count = Int(try reader.byte())
        guard count <= Self.mostMembers else { throw MalformedBytes() }
        var members: [Constraint] = []
        for _ in 0..<count { members.append(try Constraint(&reader, depth: depth + 1)) }
        self = .atLeast(required: Int(clamping: required), of: members)
    }
}

/// An item's trusted applications as bytes, sealed with its attributes.
///
/// count ‖ (identity ‖ strength ‖ when ‖ by whom, empty for the user)…
extension TrustList {
    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard applications.count <= Self.mostApplications else { throw .tooLarge }
        // Safe: there are at most as many as were checked.
        var bytes = [UInt8(applications.count)]
        for application in applications {
            let texts = [application.identity, application.listedBy ?? ""]
            guard texts.allSatisfy({ $0.utf8.count <= TrustedApplication.longestIdentity }),
                !application.identity.isEmpty
            else { throw .tooLarge }
            bytes.append(block: texts[0].utf8)
            bytes.append(application.strength.rawValue)
            bytes += application.listedAt.bitPattern.littleEndianBytes
            bytes.append(block: texts[1].utf8)
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let count = Int(try reader.byte())
        guard count <= Self.mostApplications else { throw MalformedBytes() }
        var applications: [TrustedApplication] = []
        for _ in 0..<count { applications.append(try Self.application(&reader)) }
        self.init(applications)
        // A list has exactly one encoding.
        guard reader.isAtEnd, self.applications == applications else { throw MalformedBytes() }
    }

    private static func application(
        _ reader: inout ByteReader
    ) throws(MalformedBytes) -> TrustedApplication {
        let identity = try reader.text()
        guard !identity.isEmpty, let strength = ProgramStrength(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        let listedAt = Double(bitPattern: try reader.number(UInt64.self))
        let listedBy = try reader.text()
        guard listedAt.isFinite,
            max(identity.utf8.count, listedBy.utf8.count) <= TrustedApplication.longestIdentity
        else { throw MalformedBytes() }
        return TrustedApplication(
            identity, strength: strength, listedBy: listedBy.isEmpty ? nil : listedBy,
            listedAt: listedAt)
    }
}
