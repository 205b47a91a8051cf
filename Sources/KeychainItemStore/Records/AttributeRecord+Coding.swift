// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The bytes that an attribute record is sealed as. One record has one encoding: names in order,
/// no bit without a meaning, nothing behind the end.
///
/// version ‖ flags ‖ created ‖ modified ‖ rights ‖ group ‖ count ‖ (name ‖ type ‖ value)… ‖ trusted
/// applications, where there is a list
extension AttributeRecord {
    static let version: UInt8 = 1
    /// Bytes of all attributes of an item together.
    static let largest = KeychainSchema.largestAttributes
    static let mostAttributes = 256

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let synchronizable = Flags(rawValue: 1)
        static let secret = Flags(rawValue: 2)
        static let trusted = Flags(rawValue: 16)
        static let known: Flags = [.synchronizable, .secret, .trusted]
    }

    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard attributes.count <= Self.mostAttributes else { throw .tooLarge }
        var flags: Flags = []
        if isSynchronizable { flags.insert(.synchronizable) }
        if hasSecret { flags.insert(.secret) }
        if trusted != nil { flags.insert(.trusted) }
        var bytes: [UInt8] = [Self.version, flags.rawValue]
        bytes.append(littleEndian: created.bitPattern)
        bytes.append(littleEndian: modified.bitPattern)
        bytes.append(block: try accessControl.encoded())
        bytes.append(block: group.utf8)
        // Safe: at most 256, as was checked.
        bytes.append(littleEndian: UInt16(attributes.count))
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            bytes.append(block: name.rawValue.utf8)
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
        isSynchronizable = flags.contains(.synchronizable)
        hasSecret = flags.contains(.secret)
        created = Double(bitPattern: try reader.number(UInt64.self))
        modified = Double(bitPattern: try reader.number(UInt64.self))
        guard created.isFinite, modified.isFinite else { throw MalformedBytes() }
        accessControl = try ItemAccessControl(decoding: try reader.block())
        group = try reader.text()
        attributes = try Self.attributes(&reader)
        trusted =
            flags.contains(.trusted) ? try TrustList(decoding: Array(try reader.block())) : nil
        guard reader.isAtEnd else { throw MalformedBytes() }
    }

    private static func attributes(
        _ reader: inout ByteReader
    ) throws(MalformedBytes) -> Attributes {
        let count = Int(try reader.number(UInt16.self))
        guard count <= mostAttributes else { throw MalformedBytes() }
        // Answers take this dictionary and put the record's own fields in.
        var attributes = Attributes(minimumCapacity: count + fieldsOfAnswers.count)
        var previous: AttributeName?
        for _ in 0..<count {
            let name = AttributeName(rawValue: try reader.text())
            if let previous, !(previous < name) { throw MalformedBytes() }
            let type = try reader.byte()
            attributes[name] = try AttributeValue(type: type, try reader.block())
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

    fileprivate init(type: UInt8, _ bytes: ArraySlice<UInt8>) throws(MalformedBytes) {
        switch type {
        case 1:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw MalformedBytes()
            }
            self = .string(text)
        case 2: self = .data(Array(bytes))
        case 3: self = .number(Int64(bitPattern: try Self.eight(bytes)))
        case 4: self = .date(Double(bitPattern: try Self.eight(bytes)))
        case 5: self = .real(Double(bitPattern: try Self.eight(bytes)))
        default: throw MalformedBytes()
        }
    }

    private static func eight(_ bytes: ArraySlice<UInt8>) throws(MalformedBytes) -> UInt64 {
        var reader = ByteReader(bytes)
        let number = try reader.number(UInt64.self)
        guard reader.isAtEnd else { throw MalformedBytes() }
        return number
    }
}
