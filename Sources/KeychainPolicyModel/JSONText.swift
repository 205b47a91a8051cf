// SPDX-License-Identifier: Apache-2.0

/// A text quoted and escaped for JSON.
public struct JSONText: CustomStringConvertible {
    public let description: String

    public init(_ text: String) {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\" + String(scalar)
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.utf8.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        description = out + "\""
    }

    public static func list(_ texts: [PolicyText]) -> String {
        "[" + texts.map { JSONText($0.string).description }.joined(separator: ", ") + "]"
    }
}
