// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax

/// Places in a text as editors count them: lines from 0, columns in units of UTF-16.
struct TextPositions {
    let source: SourceFile

    /// The byte at a position; the end of the line or of the text for one that lies beyond.
    func offset(_ position: JSONValue?) -> Int? {
        guard let line = position?["line"]?.number, let column = position?["character"]?.number,
            line >= 0, column >= 0, line < Int.max
        else { return nil }
        guard let range = source.range(ofLine: line + 1) else { return source.bytes.count }
        var units = 0
        var offset = range.lowerBound
        for scalar in String(decoding: source.bytes[range], as: UTF8.self).unicodeScalars {
            guard units < column else { break }
            units += UTF16.width(scalar)
            offset += UTF8.width(scalar)
        }
        return min(offset, range.upperBound)
    }

    func range(_ bytes: Range<Int>) -> JSONValue {
        ["start": position(ofByte: bytes.lowerBound), "end": position(ofByte: bytes.upperBound)]
    }

    /// The range of a diagnostic, whose columns and length count scalars.
    func range(_ place: SourcePlace, length: Int) -> JSONValue {
        let line = Array((source.line(place.line) ?? "").unicodeScalars)
        let start = min(max(place.column - 1, 0), line.count)
        let end = min(start + max(length, 1), line.count)
        func position(_ count: Int) -> JSONValue {
            [
                "line": .number("\(max(place.line - 1, 0))"),
                "character": .number("\(line[..<count].reduce(0) { $0 + UTF16.width($1) })"),
            ]
        }
        return ["start": position(start), "end": position(end)]
    }

    private func position(ofByte offset: Int) -> JSONValue {
        let place = source.place(ofByte: offset)
        let start = source.range(ofLine: place.line)?.lowerBound ?? offset
        let text = String(
            decoding: source.bytes[min(start, offset)..<min(offset, source.bytes.count)],
            as: UTF8.self)
        return [
            "line": .number("\(place.line - 1)"), "character": .number("\(text.utf16.count)"),
        ]
    }
}

/// Paths of files from the editor's addresses.
enum FileAddress {
    private static let scheme = "file://"

    /// nil for an address that is not a file of this machine.
    static func path(of address: String) -> String? {
        guard address.hasPrefix(scheme) else { return nil }
        let rest = address.dropFirst(scheme.count)
        guard rest.hasPrefix("/") else { return nil }
        var bytes: [UInt8] = []
        var escape = 0
        for byte in rest.utf8 {
            if escape > 0 {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
                bytes[bytes.count - 1] = bytes[bytes.count - 1] << 4 | UInt8(digit)
                escape -= 1
            } else if byte == UInt8(ascii: "%") {
                bytes.append(0)
                escape = 2
            } else {
                bytes.append(byte)
            }
        }
        guard escape == 0, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func address(of path: String) -> String {
        path.utf8.reduce(into: scheme) { address, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                address += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
    }
}
