// SPDX-License-Identifier: Apache-2.0
import KeychainKernelKeyring
import KeychainLocalSocket
import KeychainMessages
import KeychainSecrets
import Synchronization
import SystemTestSupport

/// Both ends of a connection, in this process: the daemon's and a program's.
final class ConnectionPair: Sendable {
    let server: ServerConnection
    let client: ClientConnection

    init() throws {
        let folder = try ScratchFolder()
        let path = folder("socket")
        let listener = try Listener(path: path, mode: 0o600)
        let connecting = Background { try ClientConnection(path: path, requiredPeer: nil) }
        server = try ServerConnection(try listener.accept())
        try server.greet()
        client = try connecting.value()
    }

    /// What the daemon said last.
    func heard() throws -> ServerMessage { try client.hear() }
}

extension ClientConnection {
    func say(_ message: ClientMessage) throws {
        let (message, secrets) = message.encoded()
        try send(Frame(message: message, secrets: secrets))
    }

    func hear() throws -> ServerMessage {
        let frame = try receive(.answer, within: .seconds(20))
        return try ServerMessage(frame.message, secrets: frame.secrets)
    }
}

/// The program at a prompter's end of a connection: it writes down what it is to show, and answers
/// from a list.
final class ScriptedPrompter: Sendable {
    enum Reply: Sendable {
        case types(String)
        case cancels
        case leaves
    }

    private let shown: Box<[ServerMessage.Prompt]>
    private let reading: Background<Void>

    init(_ client: ClientConnection, _ replies: [Reply]) {
        let seen = Box<[ServerMessage.Prompt]>([])
        shown = seen
        reading = Background {
            var replies = replies[...]
            while case .prompt(let prompt)? = try? client.hear() {
                seen.change { $0.append(prompt) }
                guard prompt.isQuestion else { continue }
                switch replies.popFirst() {
                case .types(let text): try client.say(.promptReply(HeldSecret(text)))
                case .cancels: try client.say(.promptReply(nil))
                case .leaves, nil: return client.shutDown()
                }
            }
        }
    }

    /// All that it was to show. Its connection must have ended, or end now.
    func prompts() throws -> [ServerMessage.Prompt] {
        try reading.value()
        return shown.value
    }
}

/// A value that threads share.
final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { content.withLock { body(&$0) } }
}

extension HeldSecret {
    convenience init(_ text: String) { self.init(SecretBytes(copying: Array(text.utf8))) }

    var text: String {
        String(decoding: bytes.copy().releasedFromLockedMemory(), as: UTF8.self)
    }
}

extension ServerMessage.Prompt {
    fileprivate var isQuestion: Bool {
        switch self {
        case .askHidden, .askVisible, .askNew, .confirm, .choose: true
        case .information, .error, .title, .finished: false
        }
    }
}

/// What a test has put into the kernel's keyring.
enum KeyringOfTest {
    /// Keys whose names have the folder in them.
    static func remove(_ folder: String) {
        for key in (try? KernelKeyring.list(.userKeyring)) ?? []
        where (try? KernelKeyring.describe(key))?.description.contains(folder) == true {
            try? KernelKeyring.unlink(key, from: .userKeyring)
        }
    }
}
