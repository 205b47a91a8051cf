// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

extension Keychain {
    /// A value in locked memory that no core dump contains, wiped when the last copy of it ends.
    ///
    /// The form for secrets that need not become text: `find("key", as: Keychain.Secret.self)`.
    public struct Secret: Sendable {
        let held: HeldSecret

        init(_ held: HeldSecret) { self.held = held }

        /// A copy; the owner of the bytes wipes them.
        public init(copying bytes: RawSpan) { held = HeldSecret(SecretBytes(copying: bytes)) }

        /// Fresh bytes that can't be foreseen.
        public static func random(count: Int) -> Secret {
            Secret(HeldSecret(SecretBytes(random: count)))
        }

        /// In bytes.
        public var count: Int { held.bytes.count }

        /// The bytes, for as long as the closure runs.
        public func withBytes<R: ~Copyable, E: Error>(
            _ body: (RawSpan) throws(E) -> R
        ) throws(E) -> R {
            try held.bytes.withBytes(body)
        }
    }
}

extension Keychain.Secret: Equatable {
    /// In time that depends on the lengths only.
    public static func == (a: Self, b: Self) -> Bool { a.held.bytes.matches(b.held.bytes) }
}

extension Keychain.Secret: CustomStringConvertible {
    public var description: String { "Keychain.Secret" }
}
