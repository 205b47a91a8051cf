// SPDX-License-Identifier: Apache-2.0
internal import SwiftASN1

/// The name of a subject or an issuer in a certificate.
package struct DistinguishedName {
    private let name: ASN1Node

    /// nil where the node is no sequence of sets of attributes.
    init?(_ node: ASN1Node) {
        guard node.identifier == .sequence, let sets = node.children else { return nil }
        let isName = sets.allSatisfy { set in
            set.identifier == .set && set.children?.allSatisfy { $0.children?.count == 2 } ?? false
        }
        guard isName else { return nil }
        name = node
    }

    /// The texts of all attributes of a kind, in order.
    package func texts(of type: [UInt]) -> [String] {
        attributes.filter { $0.type == type }.compactMap { $0.value.text }
    }

    private var attributes: [(type: [UInt], value: ASN1Node)] {
        (name.children ?? []).flatMap { $0.children ?? [] }.compactMap { attribute in
            guard let parts = attribute.children, parts.count == 2,
                let type = try? ASN1ObjectIdentifier(derEncoded: parts[0])
            else { return nil }
            return (type.oidComponents, parts[1])
        }
    }

    /// The form for comparing names: texts without blanks around them, single blanks inside,
    /// capital letters, and the plainest type that can hold them.
    package var normalized: [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for set in name.children ?? [] { Self.write(set, &serializer) }
        }
        return serializer.serializedBytes
    }

    /// The same without the tag and the length of the whole, as items store it.
    package var normalizedContent: [UInt8]? {
        (try? DER.parse(normalized))?.children?.flatMap { $0.encodedBytes }
    }

    private static func write(_ set: ASN1Node, _ serializer: inout DER.Serializer) {
        serializer.appendConstructedNode(identifier: .set) { serializer in
            for attribute in set.children ?? [] {
                serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    for part in attribute.children ?? [] { write(value: part, &serializer) }
                }
            }
        }
    }

    private static func write(value: ASN1Node, _ serializer: inout DER.Serializer) {
        let textTypes: [ASN1Identifier] = [.printableString, .utf8String, .ia5String]
        guard textTypes.contains(value.identifier), let text = value.text else {
            serializer.serialize(value)
            return
        }
        let words = text.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
        let plain = Array(words.joined(separator: " ").utf8.map(capital))
        let type = plain.allSatisfy(isPrintable) ? .printableString : value.identifier
        serializer.appendPrimitiveNode(identifier: type) { $0 += plain }
    }

    private static func capital(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    }

    private static let printable = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?".utf8)
    private static func isPrintable(_ byte: UInt8) -> Bool { printable.contains(byte) }
}

extension DistinguishedName {
    package static let commonName: [UInt] = [2, 5, 4, 3]
    package static let organization: [UInt] = [2, 5, 4, 10]
    package static let organizationalUnit: [UInt] = [2, 5, 4, 11]
    package static let emailAddress: [UInt] = [1, 2, 840, 113549, 1, 9, 1]
}

extension ASN1Node {
    /// nil for a node that holds bytes.
    var children: [ASN1Node]? {
        guard case .constructed(let nodes) = content else { return nil }
        return Array(nodes)
    }

    /// nil for a node that holds nodes.
    var bytes: [UInt8]? {
        guard case .primitive(let bytes) = content else { return nil }
        return Array(bytes)
    }

    /// The text of the types that names use.
    var text: String? {
        guard let bytes else { return nil }
        switch identifier {
        case .utf8String, .printableString, .ia5String, .numericString, .visibleString:
            return String(validating: bytes, as: UTF8.self)
        // In practice these are Latin letters.
        case .teletexString: return String(String.UnicodeScalarView(bytes.map(Unicode.Scalar.init)))
        case .bmpString:
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return bytes.count % 2 == 0 ? String(validating: units, as: UTF16.self) : nil
        default: return nil
        }
    }
}

extension DistinguishedName {
    /// The form by which a name is compared: a whole name's normalised content; other bytes count
    /// as that already.
    package static func comparedContent(of bytes: [UInt8]) -> [UInt8] {
        guard let node = try? DER.parse(bytes), let name = DistinguishedName(node) else {
            return bytes
        }
        return name.normalizedContent ?? bytes
    }
}
