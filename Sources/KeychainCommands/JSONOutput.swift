// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
package import Terminal

/// Writes one JSON value and a line end.
package enum JSONOutput {
    package static func write(_ value: some Encodable, to stream: StandardStream = .output) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        // Strings, numbers, lists and records have nothing that could fail to encode.
        guard let data = try? encoder.encode(value) else { return }
        stream.write(PlainText.json(String(decoding: data, as: UTF8.self)) + "\n")
    }
}
