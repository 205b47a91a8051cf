// SPDX-License-Identifier: Apache-2.0

/// The number of descriptors of a message.
package enum AttachedDescriptors: Equatable, Sendable {
    case none, one, several
}

/// The beginning of a message, as it comes from a bus: who says what, and how many descriptors the
/// bus has attached. The bus itself writes the sender and looks after the number.
struct MessageHead: Equatable {
    static let fixedBytes = 16

    private enum Field {
        static let member: UInt8 = 3
        static let sender: UInt8 = 7
        static let signature: UInt8 = 8
        static let descriptors: UInt8 = 9
        /// One that no version has: readers leave such fields out.
        static let none: UInt8 = 255
    }

    private let isLittle: Bool
    let kind: BusMessage.Kind?
    let serial: UInt64
    /// Bytes with the fields, and of the whole message.
    let headBytes: Int
    let allBytes: Int
    private let fieldsEnd: Int
    private(set) var sender: String?
    private(set) var member: String?
    private(set) var signature: String?
    private(set) var attached = AttachedDescriptors.none
    private var codeOfDescriptors: Int?
    private var signaturePlace = 0..<0

    /// nil where no message begins. The array has at least the fixed part.
    init?(fixed bytes: [UInt8]) {
        guard bytes.count >= Self.fixedBytes, Self.begins(with: bytes[0]) else { return nil }
        isLittle = bytes[0] == UInt8(ascii: "l")
        kind = BusMessage.Kind(rawValue: bytes[1])
        serial = UInt64(Self.number(bytes, at: 8, isLittle))
        fieldsEnd = Self.fixedBytes + Self.number(bytes, at: 12, isLittle)
        headBytes = Self.aligned(fieldsEnd, to: 8)
        allBytes = headBytes + Self.number(bytes, at: 4, isLittle)
    }

    static func begins(with byte: UInt8) -> Bool {
        byte == UInt8(ascii: "l") || byte == UInt8(ascii: "B")
    }

    /// Reads the fields; false where one is written as none should be. The array has the whole head.
    mutating func readFields(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= headBytes else { return false }
        var place = Self.fixedBytes
        while place < fieldsEnd {
            place = Self.aligned(place, to: 8)
            // A code, and the signature of its value, which is one letter.
            guard place + 4 < fieldsEnd, bytes[place + 1] == 1, bytes[place + 3] == 0 else {
                return false
            }
            let (code, type) = (bytes[place], bytes[place + 2])
            guard let value = placeOfValue(bytes, of: type, at: place + 4) else { return false }
            switch (code, type) {
            case (Field.descriptors, UInt8(ascii: "u")):
                let count = Self.number(bytes, at: value.lowerBound, isLittle)
                attached = count == 0 ? .none : count == 1 ? .one : .several
                codeOfDescriptors = place
            case (Field.signature, UInt8(ascii: "g")):
                signature = String(decoding: bytes[value], as: UTF8.self)
                signaturePlace = value
            case (Field.member, UInt8(ascii: "s")):
                member = String(decoding: bytes[value], as: UTF8.self)
            case (Field.sender, UInt8(ascii: "s")):
                sender = String(decoding: bytes[value], as: UTF8.self)
            default: break
            }
            // Texts end with a zero.
            place = value.upperBound + (type == UInt8(ascii: "u") ? 0 : 1)
        }
        return true
    }

    /// Makes it a message without descriptors: each that its body names is a number then.
    func hideDescriptors(in bytes: inout [UInt8]) {
        if let codeOfDescriptors { bytes[codeOfDescriptors] = Field.none }
        for place in signaturePlace where bytes[place] == UInt8(ascii: "h") {
            bytes[place] = UInt8(ascii: "u")
        }
    }

    /// Where the value is, without its length and its last zero.
    private func placeOfValue(
        _ bytes: [UInt8], of type: UInt8, at place: Int
    ) -> Range<Int>? {
        let value: Range<Int>
        switch type {
        case UInt8(ascii: "u"):
            value = place..<place + 4
            return value.upperBound <= fieldsEnd ? value : nil
        case UInt8(ascii: "s"), UInt8(ascii: "o"):
            guard place + 4 < fieldsEnd else { return nil }
            value = place + 4..<place + 4 + Self.number(bytes, at: place, isLittle)
        case UInt8(ascii: "g"): value = place + 1..<place + 1 + Int(bytes[place])
        default: return nil
        }
        return value.upperBound < fieldsEnd ? value : nil
    }

    private static func number(_ bytes: [UInt8], at place: Int, _ isLittle: Bool) -> Int {
        let four = bytes[place..<place + 4]
        return (isLittle ? Array(four.reversed()) : Array(four)).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func aligned(_ place: Int, to size: Int) -> Int {
        (place + size - 1) / size * size
    }
}
