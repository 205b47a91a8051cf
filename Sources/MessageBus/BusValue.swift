// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// The values of a message, for other threads than the one with the connection.
package indirect enum BusValue: Sendable {
    case text(String)
    case path(String)
    case bool(Bool)
    case uint32(UInt32)
    case uint64(UInt64)
    case bytes([UInt8])
    /// Bytes that are wiped with the message.
    case secret(HeldSecret)
    /// An array of elements that all have that signature.
    case array(of: String, [BusValue])
    case structure(of: String, [BusValue])
    case entry(of: String, BusValue, BusValue)
    case variant(of: String, BusValue)

    package static func paths(_ paths: [String]) -> BusValue {
        .array(of: "o", paths.map(BusValue.path))
    }

    package static func texts(_ pairs: [(name: String, value: String)]) -> BusValue {
        .array(
            of: "{ss}", pairs.map { .entry(of: "ss", .text($0.name), .text($0.value)) })
    }

    /// A dictionary of variants; the values come with their signatures.
    package static func properties(
        _ values: [(name: String, signature: String, value: BusValue)]
    ) -> BusValue {
        .array(
            of: "{sv}",
            values.map {
                .entry(of: "sv", .text($0.name), .variant(of: $0.signature, $0.value))
            })
    }
}

extension BusMessage {
    /// Returns false where the library refuses the value.
    package func append(_ value: BusValue) -> Bool {
        switch value {
        case .text(let text): append(text, as: "s")
        case .path(let path): append(path, as: "o")
        case .bool(let flag): append(flag)
        case .uint32(let number): append(number)
        case .uint64(let number): append(number)
        case .bytes(let bytes): append(bytes)
        case .secret(let secret): append(secret.bytes)
        case .array(let signature, let values): append(values, in: "a", signature)
        case .structure(let signature, let values): append(values, in: "r", signature)
        case .entry(let signature, let key, let value): append([key, value], in: "e", signature)
        case .variant(let signature, let value): append([value], in: "v", signature)
        }
    }

    private func append(
        _ values: [BusValue], in type: Unicode.Scalar, _ signature: String
    ) -> Bool {
        open(type, signature) && values.allSatisfy(append) && close()
    }
}
