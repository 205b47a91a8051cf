// SPDX-License-Identifier: Apache-2.0

/// A code of four characters, which is also a number of 32 bits.
struct FourCharacters: Equatable {
    let bytes: [UInt8]

    init?(_ text: String) {
        guard text.utf8.count == 4 else { return nil }
        bytes = Array(text.utf8)
    }

    var number: Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The message about a text that is no such code.
    static func complaint(about text: String) -> String {
        let rule = "Error: four-character types must be exactly 4 characters long."
        guard text.utf8.count == 3 else { return rule + "\n" }
        return rule + "\n(Try \"\(text) \" instead of \"\(text)\")\n"
    }
}
