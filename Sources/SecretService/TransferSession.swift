// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import LibCrypto
internal import MessageBus
internal import Synchronization

/// How one client's secrets travel. Its name is random and given once.
final class TransferSession: Sendable {
    let name: String
    /// nil where they travel in clear.
    private let key: HeldSecret?

    private init(key: HeldSecret?) {
        name = RandomName.make()
        self.key = key
    }

    static func plain() -> TransferSession { TransferSession(key: nil) }

    /// With the key that both sides know after the exchange.
    static func encrypted(
        _ exchange: consuming KeyExchange, with value: [UInt8]
    ) throws(ServiceError) -> TransferSession {
        do {
            let shared = try exchange.shared(with: value)
            return TransferSession(key: HeldSecret(TransferCipher.key(from: shared)))
        } catch {
            throw error == .refused
                ? .invalidArguments("That is no public value of the group") : .failed
        }
    }

    var path: String { ObjectPath.session(name).description }
    var transfer: Transfer { key == nil ? .plain : .encrypted }

    /// The signature of a secret as it travels.
    static let signature = "(oayays)"

    func sent(_ secret: HeldSecret, _ contentType: String) throws(ServiceError) -> BusValue {
        var value = (parameters: [UInt8](), bytes: BusValue.secret(secret))
        if let key {
            do {
                let sealed = try TransferCipher.encrypt(secret.bytes, key: key.bytes)
                value = (sealed.initial, .bytes(sealed.bytes))
            } catch { throw .failed }
        }
        return .structure(
            of: "oayays",
            [
                .path(path), .bytes(value.parameters), value.bytes,
                .text(ContentType.answered(contentType)),
            ])
    }

    func received(_ sent: SentSecret) throws(ServiceError) -> HeldSecret {
        guard let key else {
            guard sent.parameters.isEmpty else {
                throw .invalidArguments("A plain session takes no parameters")
            }
            guard sent.value.bytes.count <= Limits.secret else { throw .limitsExceeded }
            return sent.value
        }
        let secret: HeldSecret
        do {
            secret = HeldSecret(
                try TransferCipher.decrypt(
                    sent.value.bytes, initial: sent.parameters, key: key.bytes))
        } catch {
            throw error == .refused
                ? .invalidArguments("The secret was not encrypted as the session asks for")
                : .failed
        }
        guard secret.bytes.count <= Limits.secret else { throw .limitsExceeded }
        return secret
    }
}

/// 128 random bits as digits.
enum RandomName {
    static func make() -> String { RandomBytes.make(16).hexadecimal }
}

enum ContentType {
    static let text = "text/plain"

    /// Libraries give their program no text where anything stands behind it.
    static func answered(_ kept: String) -> String {
        kept.isEmpty || kept.hasPrefix(text + ";") ? text : kept
    }
}

/// A key pair made ahead, since making one takes most of the time of an exchange.
final class ReadyExchange: Sendable {
    private let ready = Mutex<KeyExchange?>(nil)

    /// The one that is there, else a new one.
    func take() throws(ServiceError) -> KeyExchange {
        let found: KeyExchange? = ready.withLock { $0.take() }
        if let found { return found }
        do { return try KeyExchange() } catch { throw .failed }
    }

    func prepare() {
        guard ready.withLock({ $0 == nil }), let made = try? KeyExchange() else { return }
        var new: KeyExchange? = consume made
        ready.withLock { kept in if kept == nil { kept = new.take() } }
    }
}
