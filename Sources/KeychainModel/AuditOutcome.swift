// SPDX-License-Identifier: Apache-2.0

/// How a request ended, as a record has it: `allowed`, the name of an error, or `several` where the
/// record stands for requests that ended differently.
package struct AuditOutcome: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package static let allowed = Self("allowed")
    package static let several = Self("several")

    package init(_ text: String) { description = text }

    package init(_ refusal: Refusal?) { self = refusal.map { Self("\($0)") } ?? .allowed }

    /// Whether it ended otherwise than the client wished, and not because there was no such item. So
    /// it is with a name that a newer service may have written.
    package var isRefusal: Bool { self != .allowed && self != Self(Refusal.notFound) }
}

extension AuditOutcome: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}
