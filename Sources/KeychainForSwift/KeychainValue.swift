// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainSecrets

/// A value that a keychain can store: `Data`, `String`, `Keychain.Secret`, and every `Codable` type
/// that declares it.
///
/// ```swift
/// struct Token: Codable, KeychainValue { var access: String, refresh: String }
/// ```
///
/// All but `Keychain.Secret` are in ordinary memory, where they are not wiped.
public protocol KeychainValue {
    /// Makes the value from the stored secret; throws where the secret is of another type.
    init(keychainSecret: Keychain.Secret) throws
    func keychainSecret() throws -> Keychain.Secret
}

extension Keychain.Secret: KeychainValue {
    public init(keychainSecret: Keychain.Secret) { self = keychainSecret }
    public func keychainSecret() -> Keychain.Secret { self }
}

extension Data: KeychainValue {
    public init(keychainSecret: Keychain.Secret) {
        self = Data(keychainSecret.held.bytes.releasedFromLockedMemory())
    }
    public func keychainSecret() -> Keychain.Secret { Keychain.Secret(copying: bytes) }
}

/// Stored as UTF-8.
extension String: KeychainValue {
    public init(keychainSecret: Keychain.Secret) throws {
        let bytes = keychainSecret.held.bytes.releasedFromLockedMemory()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KeychainError(status: errSecDecode)
        }
        self = text
    }

    public func keychainSecret() -> Keychain.Secret {
        let secret = SecretBytes(count: utf8.count) { (span: inout MutableRawSpan) in
            for (index, byte) in utf8.enumerated() {
                span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
        }
        return Keychain.Secret(HeldSecret(secret))
    }
}

/// Stored as JSON.
extension KeychainValue where Self: Codable {
    public init(keychainSecret: Keychain.Secret) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(keychainSecret: keychainSecret))
    }

    public func keychainSecret() throws -> Keychain.Secret {
        try JSONEncoder().encode(self).keychainSecret()
    }
}

extension KeychainValue {
    /// The reasons are left out, since a decoder's error quotes the text that it read.
    func checkedSecret() throws(KeychainError) -> Keychain.Secret {
        do { return try keychainSecret() } catch { throw KeychainError(status: errSecParam) }
    }

    init(checked secret: Keychain.Secret) throws(KeychainError) {
        do { self = try Self(keychainSecret: secret) } catch {
            throw KeychainError(status: errSecDecode)
        }
    }
}
