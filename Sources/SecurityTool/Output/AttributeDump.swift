// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// An item without its secret, line by line.
enum AttributeDump {
    /// The version of the file's format on newer systems, `-db`.
    private static let version = 512

    static func text(_ item: Item, keychain path: String) -> String {
        var lines = header(item, keychain: path)
        for row in rows(of: item.reference.itemClass) {
            let given = value(row, of: item)
            let shown = given.map { ValueText.of(bytes(of: $0, row.type)) } ?? "<NULL>"
            lines.append("    \(row.tag)<\(row.type.rawValue)>=\(shown)")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// nil for an attribute that was not given. Of the uniqueness key such a one is stored as an
    /// empty value.
    private static func value(_ row: Row, of item: Item) -> AttributeValue? {
        guard let name = row.name, let value = item.attributes[name] else { return nil }
        let isOfKey = item.reference.itemClass.attributeRules[name]?.isKey ?? false
        return isOfKey && value.isEmptyCompared ? nil : value
    }

    /// The lines before the attributes.
    static func header(_ item: Item, keychain path: String) -> [String] {
        [
            "keychain: \"\(path)\"", "version: \(version)",
            "class: \(ValueText.of(classBytes(of: item)))", "attributes:",
        ]
    }

    private static func classBytes(of item: Item) -> [UInt8] {
        switch item.reference.itemClass {
        case .genericPassword: Array("genp".utf8)
        case .internetPassword: Array("inet".utf8)
        case .certificate: [0x80, 0x00, 0x10, 0x00]
        case .key: [0, 0, 0, KeyClassCode(item).rawValue]
        case .attributed: Array(item.reference.itemClass.code.utf8)
        }
    }

    private enum KeyClassCode: UInt8 {
        case publicKey = 0x0F
        case privateKey = 0x10
        case symmetric = 0x11

        init(_ item: Item) {
            switch item.attributes[.keyClass] {
            case .number(0): self = .publicKey
            case .number(1): self = .privateKey
            default: self = .symmetric
            }
        }
    }

    enum ValueType: String { case blob, uint32, sint32, timedate }

    struct Row {
        /// The tag as it is printed.
        let tag: String
        /// nil for an attribute that no item here has.
        let name: AttributeName?
        let type: ValueType
    }

    private static func rows(of itemClass: ItemClass) -> [Row] {
        switch itemClass {
        case .genericPassword: generic
        case .internetPassword: internet
        case .certificate: certificate
        case .key: key
        case .attributed: names
        }
    }

    private static func row(
        _ tag: String, _ type: ValueType = .blob, _ name: AttributeName? = nil
    ) -> Row {
        Row(tag: "\"\(tag)\"", name: name ?? AttributeName(rawValue: tag), type: type)
    }

    private static func numbered(
        _ tag: UInt8, _ type: ValueType, _ name: AttributeName?
    ) -> Row {
        Row(tag: ValueText.of([0, 0, 0, tag]), name: name, type: type)
    }

    private static let names = [numbered(7, .blob, .label), numbered(8, .blob, .alias)]

    private static let generic: [Row] =
        names + [
            row("acct"), row("cdat", .timedate), row("crtr", .uint32), row("cusi", .sint32),
            row("desc"), row("gena"), row("icmt"), row("invi", .sint32), row("mdat", .timedate),
            row("nega", .sint32), row("prot"), row("scrp", .sint32), row("svce"),
            row("type", .uint32),
        ]

    private static let internet: [Row] =
        names + [
            row("acct"), row("atyp"), row("cdat", .timedate), row("crtr", .uint32),
            row("cusi", .sint32), row("desc"), row("icmt"), row("invi", .sint32),
            row("mdat", .timedate), row("nega", .sint32), row("path"), row("port", .uint32),
            row("prot"), row("ptcl", .uint32), row("scrp", .sint32), row("sdmn"), row("srvr"),
            row("type", .uint32),
        ]

    private static let certificate: [Row] = [
        row("alis"), row("cenc", .uint32), row("ctyp", .uint32),
        row("hpky", .blob, .publicKeyHash), row("issr"), row("labl"), row("skid"),
        row("snbr", .blob, .serialNumber), row("subj"),
    ]

    private static let key: [Row] = [
        numbered(0x00, .uint32, .keyClass), numbered(0x01, .blob, .label),
        numbered(0x02, .blob, .alias), numbered(0x03, .uint32, .isPermanent),
        numbered(0x04, .uint32, .isPrivate), numbered(0x05, .uint32, .isModifiable),
        numbered(0x06, .blob, .applicationLabel), numbered(0x07, .blob, .applicationTag),
        numbered(0x08, .blob, .creator), numbered(0x09, .uint32, .type),
        numbered(0x0A, .uint32, .keySize), numbered(0x0B, .uint32, .effectiveKeySize),
        numbered(0x0C, .timedate, .startDate), numbered(0x0D, .timedate, .endDate),
        numbered(0x0E, .uint32, .isSensitive), numbered(0x0F, .uint32, .wasAlwaysSensitive),
        numbered(0x10, .uint32, .isExtractable), numbered(0x11, .uint32, .wasNeverExtractable),
        numbered(0x12, .uint32, .canEncrypt), numbered(0x13, .uint32, .canDecrypt),
        numbered(0x14, .uint32, .canDerive), numbered(0x15, .uint32, .canSign),
        numbered(0x16, .uint32, .canVerify), numbered(0x17, .uint32, .canSignRecover),
        numbered(0x18, .uint32, .canVerifyRecover), numbered(0x19, .uint32, .canWrap),
        numbered(0x1A, .uint32, .canUnwrap),
    ]

    /// The value in the form of its type; a value of another type than its attribute's as the bytes
    /// that it is compared by.
    static func bytes(of value: AttributeValue, _ type: ValueType) -> [UInt8] {
        switch (type, value) {
        case (.uint32, .number(let number)), (.sint32, .number(let number)):
            let bits = UInt32(truncatingIfNeeded: number)
            return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
        case (.timedate, .date(let seconds)):
            return Array(CalendarTime(secondsSince2001: seconds).text.utf8) + [0]
        default: return value.comparedBytes
        }
    }
}
