// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets
internal import LibCrypto
internal import MessageBus

/// The form of secrets on the bus: encrypted, or in clear where the service supports nothing else.
struct SecretTransfer {
    struct Given {
        let secret: HeldSecret
        let contentType: String
    }

    private static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    private static let item = "org.freedesktop.Secret.Item"
    private static let notSupported = "org.freedesktop.DBus.Error.NotSupported"

    private let calls: ServiceCalls
    private let path: String
    /// nil where secrets travel in clear.
    private let key: HeldSecret?

    init(_ calls: ServiceCalls) throws(ImportError) {
        self.calls = calls
        do throws(ServiceRefusal) {
            (path, key) = try Self.open(calls)
        } catch { throw .strangeService }
    }

    private static func open(
        _ calls: ServiceCalls
    ) throws(ServiceRefusal) -> (path: String, key: HeldSecret?) {
        guard let exchange = try? KeyExchange() else { throw .broken }
        do throws(ServiceRefusal) {
            let value = BusValue.variant(of: "ay", .bytes(exchange.publicValue))
            let (answer, path) = try open(calls, encrypted, value) {
                message throws(BusReadError) in
                try message.variant("ay") { () throws(BusReadError) in
                    try message.bytes(atMost: 2 * KeyExchange.valueBytes)
                }
            }
            guard let shared = try? exchange.shared(with: answer) else { throw .broken }
            return (path, HeldSecret(TransferCipher.key(from: shared)))
        } catch {
            guard case .refused(notSupported) = error else { throw error }
        }
        let value = BusValue.variant(of: "s", .text(""))
        let (_, path) = try open(calls, "plain", value) { message throws(BusReadError) in
            try message.skip("v")
        }
        return (path, nil)
    }

    private static func open<R>(
        _ calls: ServiceCalls, _ algorithm: String, _ value: BusValue,
        _ read: (BusMessage) throws(BusReadError) -> R
    ) throws(ServiceRefusal) -> (R, String) {
        try calls.call(
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "OpenSession",
            [.text(algorithm), value], "vo"
        ) { message throws(BusReadError) in
            (try read(message), try message.path(atMost: ServiceCalls.longestPath))
        }
    }

    /// nil where the service does not give the secret now.
    func secret(of item: String) throws(ServiceRefusal) -> Given? {
        // Encryption adds one block at most.
        let most = AttributedLimits.longestSecret + TransferCipher.blockBytes
        let sent: (parameters: [UInt8], value: HeldSecret, type: String)
        do throws(ServiceRefusal) {
            sent = try calls.call(item, Self.item, "GetSecret", [.path(path)], "(oayays)") {
                message throws(BusReadError) in
                try message.structure("oayays") { () throws(BusReadError) in
                    _ = try message.path(atMost: ServiceCalls.longestPath)
                    return (
                        try message.bytes(atMost: TransferCipher.blockBytes),
                        try message.secret(atMost: most),
                        try message.text(atMost: AttributedLimits.longestContentType)
                    )
                }
            }
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
        guard let key else { return Given(secret: sent.value, contentType: sent.type) }
        guard
            let plain = try? TransferCipher.decrypt(
                sent.value.bytes, initial: sent.parameters, key: key.bytes)
        else { throw .broken }
        return Given(secret: HeldSecret(plain), contentType: sent.type)
    }
}
