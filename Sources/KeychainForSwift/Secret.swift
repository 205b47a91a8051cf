// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

extension Keychain {
    /// A value in locked memory that no core dump contains, wiped when its last copy ends.
    ///
    /// It is for secrets that need not become text: `find("key", as: Keychain.Secret.self)`.
    public struct Secret: Sendable {
        let held: HeldSecret

        init(_ held: HeldSecret) { self.held = held }

        /// Copies the bytes; the caller must wipe its own.
        public init(copying bytes: RawSpan) { held = HeldSecret(SecretBytes(copying: bytes)) }

        /// New bytes from the system's secure random source.
        public static func random(count: Int) -> Secret {
            Secret(HeldSecret(SecretBytes(random: count)))
        }

        /// The number of bytes.
        public var count: Int { held.bytes.count }

        /// Lends the bytes while the closure runs.
        public func withBytes<R: ~Copyable, E: Error>(
            _ body: (RawSpan) throws(E) -> R
        ) throws(E) -> R {
            try held.bytes.withBytes(body)
        }
    }
}

extension Keychain.Secret: Equatable {
    /// Compares in time that depends on the lengths only.
    public static func == (a: Self, b: Self) -> Bool { a.held.bytes.matches(b.held.bytes) }
}

extension Keychain.Secret: CustomStringConvertible {
    public var description: String { "Keychain.Secret" }
}
