// SPDX-License-Identifier: Apache-2.0

extension Sequence<UInt8> {
    /// Two lower-case digits per byte.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(Self.digit(byte >> 4))
            digits.append(Self.digit(byte & 0xF))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension [UInt8] {
    /// nil for a text of anything but two lower-case digits per byte.
    package init?(hexadecimal text: String) {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        self = []
        var digits = text.utf8.makeIterator()
        while let first = digits.next() {
            guard let high = value(first), let low = digits.next().flatMap(value) else {
                return nil
            }
            append(high << 4 | low)
        }
    }
}
