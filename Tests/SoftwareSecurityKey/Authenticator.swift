// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import Foundation

/// The inside of a security key (CTAP 2.0): credentials with `hmac-secret`, and a PIN by the first
/// PIN protocol. All of its keys follow from its seed, so another process can be the same key.
final class Authenticator {
    enum Failure: UInt8, Error {
        case invalidCommand = 0x01
        case invalidParameter = 0x02
        case missingParameter = 0x14
        case unsupportedAlgorithm = 0x26
        case noCredentials = 0x2E
        case userActionTimeout = 0x2F
        case pinInvalid = 0x31
        case pinBlocked = 0x32
        case pinAuthInvalid = 0x33
        case pinNotSet = 0x35
        case pinRequired = 0x36
    }

    private static let aaguid = [UInt8](repeating: 0x4B, count: 16)

    let seed: [UInt8]
    let pin: String?
    /// Whether its user touches it when it waits for a touch.
    var isTouched: Bool
    private(set) var touches = 0
    private(set) var retries = 8
    private var agreement = P256.KeyAgreement.PrivateKey()
    private let token = SymmetricKey(size: .bits256)

    init(seed: [UInt8], pin: String? = nil, isTouched: Bool = true) {
        self.seed = seed
        self.pin = pin
        self.isTouched = isTouched
    }

    /// Answers a command with its parameters by the status and the data.
    func answer(_ request: [UInt8]) -> [UInt8] {
        do {
            let parameters = request.count > 1 ? CBOR(Array(request.dropFirst())) : .map([])
            guard let command = request.first, let parameters else {
                throw Failure.invalidParameter
            }
            let answer: CBOR
            switch command {
            case 0x01: answer = try makeCredential(parameters)
            case 0x02: answer = try getAssertion(parameters)
            case 0x04: answer = information
            case 0x06: answer = try clientPIN(parameters)
            default: throw Failure.invalidCommand
            }
            return [0] + (answer == .map([]) ? [] : answer.encoded)
        } catch let failure as Failure {
            return [failure.rawValue]
        } catch { return [Failure.invalidParameter.rawValue] }
    }

    private var information: CBOR {
        .map([
            (.number(1), .list([.text("FIDO_2_0")])),
            (.number(2), .list([.text("hmac-secret")])),
            (.number(3), .bytes(Self.aaguid)),
            (
                .number(4),
                .map([
                    (.text("rk"), .boolean(false)), (.text("up"), .boolean(true)),
                    (.text("clientPin"), .boolean(pin != nil)),
                ])
            ),
            (.number(5), .number(1200)),
            (.number(6), .list([.number(1)])),
        ])
    }

    // MARK: Credentials

    /// A number, and the proof that this key made it.
    private func identifier(_ number: [UInt8]) -> [UInt8] { number + derived("id", number) }

    private func isOwn(_ identifier: [UInt8]) -> Bool {
        identifier.count == 48 && identifier == self.identifier(Array(identifier.prefix(16)))
    }

    private func derived(_ purpose: String, _ message: [UInt8]) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array(purpose.utf8) + message, using: SymmetricKey(data: seed)))
    }

    private func signer(_ identifier: [UInt8]) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(rawRepresentation: derived("signer", identifier))
    }

    private func makeCredential(_ asked: CBOR) throws -> CBOR {
        guard let clientData = asked[1]?.bytes, let party = asked[2]?["id"],
            case .text(let name) = party
        else { throw Failure.missingParameter }
        let isVerified = try verify(clientData, asked[8], asked[9])
        guard pin == nil || isVerified else { throw Failure.pinRequired }
        try touch()
        let identifier = identifier((0..<16).map { _ in UInt8.random(in: 0...255) })
        let signer = try signer(identifier)
        var data = authenticatorData(name, isVerified: isVerified, flags: 0xC0)
        data += Self.aaguid + [0, UInt8(identifier.count)] + identifier
        data += Self.key(signer.publicKey.rawRepresentation, algorithm: -7).encoded
        data += CBOR.map([(.text("hmac-secret"), .boolean(true))]).encoded
        let signature = try signer.signature(for: data + clientData).derRepresentation
        return .map([
            (.number(1), .text("packed")), (.number(2), .bytes(data)),
            (
                .number(3),
                .map([
                    (.text("alg"), .number(-7)), (.text("sig"), .bytes(Array(signature))),
                ])
            ),
        ])
    }

    private func getAssertion(_ asked: CBOR) throws -> CBOR {
        guard case .text(let name)? = asked[1], let clientData = asked[2]?.bytes,
            case .list(let allowed)? = asked[3]
        else { throw Failure.missingParameter }
        let isVerified = try verify(clientData, asked[6], asked[7])
        guard let identifier = allowed.compactMap({ $0["id"]?.bytes }).first(where: isOwn) else {
            throw Failure.noCredentials
        }
        let isTold = asked[5]?["up"].map(\.isTrue) ?? true
        if isTold { try touch() }
        let secret = try asked[4]?["hmac-secret"].map {
            try tell(identifier, $0, isVerified: isVerified)
        }
        var data = authenticatorData(
            name, isVerified: isVerified, isTouched: isTold, flags: secret == nil ? 0 : 0x80)
        if let secret { data += CBOR.map([(.text("hmac-secret"), .bytes(secret))]).encoded }
        let signature = try signer(identifier).signature(for: data + clientData).derRepresentation
        return .map([
            (
                .number(1),
                .map([(.text("id"), .bytes(identifier)), (.text("type"), .text("public-key"))])
            ),
            (.number(2), .bytes(data)), (.number(3), .bytes(Array(signature))),
        ])
    }

    private func authenticatorData(
        _ party: String, isVerified: Bool, isTouched: Bool = true, flags: UInt8
    ) -> [UInt8] {
        Array(SHA256.hash(data: Array(party.utf8)))
            + [flags | (isTouched ? 1 : 0) | (isVerified ? 4 : 0)] + [0, 0, 0, 1]
    }

    private func touch() throws {
        guard isTouched else { throw Failure.userActionTimeout }
        touches += 1
    }

    /// The secret of a credential, which differs with and without the PIN.
    private func tell(
        _ identifier: [UInt8], _ asked: CBOR, isVerified: Bool
    ) throws -> [UInt8] {
        guard let salt = asked[2]?.bytes, let proof = asked[3]?.bytes else {
            throw Failure.missingParameter
        }
        let shared = try shared(asked[1])
        guard Self.mac(salt, shared) == proof else { throw Failure.pinAuthInvalid }
        let plain = try Self.decrypt(salt, shared)
        let own = derived(isVerified ? "verified" : "touched", identifier)
        let secret = HMAC<SHA256>.authenticationCode(
            for: plain, using: SymmetricKey(data: own))
        return try Self.encrypt(Array(secret), shared)
    }

    // MARK: The PIN

    private func clientPIN(_ asked: CBOR) throws -> CBOR {
        switch asked[2]?.number {
        case 1: return .map([(.number(3), .number(retries))])
        case 2:
            let key = agreement.publicKey.rawRepresentation
            return .map([(.number(1), Self.key(key, algorithm: -25))])
        case 5:
            guard let pin else { throw Failure.pinNotSet }
            guard retries > 0 else { throw Failure.pinBlocked }
            guard let sealed = asked[6]?.bytes else { throw Failure.missingParameter }
            let shared = try shared(asked[3])
            retries -= 1
            let hash = SHA256.hash(data: Array(pin.utf8)).prefix(16)
            guard try Self.decrypt(sealed, shared) == Array(hash) else {
                agreement = P256.KeyAgreement.PrivateKey()
                throw retries == 0 ? Failure.pinBlocked : Failure.pinInvalid
            }
            retries = 8
            let bytes = token.withUnsafeBytes { Array($0) }
            return .map([(.number(2), .bytes(try Self.encrypt(bytes, shared)))])
        default: throw Failure.invalidParameter
        }
    }

    /// Whether the PIN was given; throws for a wrong proof of it.
    private func verify(_ clientData: [UInt8], _ proof: CBOR?, _ version: CBOR?) throws -> Bool {
        guard let proof = proof?.bytes else { return false }
        guard version?.number == 1, Self.mac(clientData, token) == proof else {
            throw Failure.pinAuthInvalid
        }
        return true
    }

    private func shared(_ key: CBOR?) throws -> SymmetricKey {
        guard let x = key?[-2]?.bytes, let y = key?[-3]?.bytes else {
            throw Failure.missingParameter
        }
        let theirs = try P256.KeyAgreement.PublicKey(rawRepresentation: x + y)
        let secret = try agreement.sharedSecretFromKeyAgreement(with: theirs)
        return SymmetricKey(data: secret.withUnsafeBytes { SHA256.hash(data: $0) })
    }

    private static func key(_ raw: Data, algorithm: Int) -> CBOR {
        .map([
            (.number(1), .number(2)), (.number(3), .number(algorithm)), (.number(-1), .number(1)),
            (.number(-2), .bytes(Array(raw.prefix(32)))),
            (.number(-3), .bytes(Array(raw.suffix(32)))),
        ])
    }

    private static func mac(_ message: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: key).prefix(16))
    }

    private static func encrypt(_ bytes: [UInt8], _ key: SymmetricKey) throws -> [UInt8] {
        Array(try AES._CBC.encrypt(bytes, using: key, iv: zero(), noPadding: true))
    }

    private static func decrypt(_ bytes: [UInt8], _ key: SymmetricKey) throws -> [UInt8] {
        Array(try AES._CBC.decrypt(bytes, using: key, iv: zero(), noPadding: true))
    }

    private static func zero() throws -> AES._CBC.IV {
        try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))
    }
}
