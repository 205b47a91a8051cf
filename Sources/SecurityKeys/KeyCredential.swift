// SPDX-License-Identifier: Apache-2.0

/// What is kept of a secret that a security key keeps: nothing in it is secret.
package struct KeyCredential: Sendable, Equatable {
    package static let saltBytes = 32
    package static let secretBytes = 32
    /// Keys that keep credentials inside themselves have short names for them, others seal them in.
    package static let longestIdentifier = 512

    /// The key's own name for it.
    package let identifier: [UInt8]
    package let salt: [UInt8]
    package let usesPIN: Bool

    package init(identifier: [UInt8], salt: [UInt8], usesPIN: Bool) {
        self.identifier = identifier
        self.salt = salt
        self.usesPIN = usesPIN
    }

    /// One byte that is 1 where there is a PIN, the salt, the identifier.
    package var bytes: [UInt8] { [usesPIN ? 1 : 0] + salt + identifier }

    package init?(bytes: [UInt8]) {
        let start = 1 + Self.saltBytes
        guard bytes.count > start, bytes.count <= start + Self.longestIdentifier, bytes[0] <= 1
        else { return nil }
        self.init(
            identifier: Array(bytes[start...]), salt: Array(bytes[1..<start]),
            usesPIN: bytes[0] == 1)
    }
}
