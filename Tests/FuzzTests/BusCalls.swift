// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Synchronization

@testable import LibCrypto
@testable import MessageBus
@testable import SecretService

/// A call as a program on the bus sends it, with all that becomes of it short of the keychain: an input is
/// four lines, which are a path, an interface, a member and a signature, and the body behind them.
///
/// The bytes go through the library's own reading, by a socket on whose other end is no bus: what it refuses
/// ends the connection, and the next input has another.
enum BusCalls {
    private static let header = 4
    /// So that the same input has the same end.
    private static let key = SecretBytes(copying: [UInt8](repeating: 7, count: 16))

    static func input(
        _ path: String, _ interface: String, _ member: String, _ signature: String = "",
        _ body: [UInt8] = []
    ) -> [UInt8] {
        Array("\(path)\n\(interface)\n\(member)\n\(signature)\n".utf8) + body
    }

    /// The bus and what is read of it are one thread's at a time.
    private static let turn = Mutex(())

    /// Whether the call is one that is done or refused by what it is about.
    static func read(_ bytes: [UInt8]) throws -> Bool {
        try turn.withLock { _ in try readAlone(bytes) }
    }

    private static func readAlone(_ bytes: [UInt8]) throws -> Bool {
        guard let message = heard(bytes) else { return false }
        guard message.kind == .call, let path = message.path, let object = ObjectPath(path) else {
            message.wipeBytes()
            return false
        }
        try require(object.description == path, "a path that is written otherwise than it was read")
        let request: ServiceRequest
        do throws(ServiceError) { request = try ServiceRequest(message, to: object) } catch {
            message.wipeBytes()
            return false
        }
        try check(request)
        try answer(message, object, request)
        return true
    }

    // MARK: The call

    private static func heard(_ bytes: [UInt8]) -> BusMessage? {
        let parts = bytes.split(
            separator: UInt8(ascii: "\n"), maxSplits: header, omittingEmptySubsequences: false)
        guard parts.count == header + 1 else { return nil }
        let texts = parts.prefix(header).map { String(decoding: $0, as: UTF8.self) }
        return FakeBus.shared.hear(texts, Array(parts[header]))
    }

    // MARK: What was read

    private static func check(_ request: ServiceRequest) throws {
        switch request {
        case .openSession(let algorithm, let input):
            try check(algorithm, Limits.name)
            if case .bytes(let bytes) = input {
                try require(bytes.count <= Limits.label, "an input")
            }
        case .createCollection(let label, let alias):
            try check(label, Limits.label)
            try check(alias, Limits.name)
        case .searchItems(let pairs), .searchCollection(let pairs): try check(pairs)
        case .unlock(let paths), .lock(let paths), .getSecrets(let paths, _):
            try require(paths.count <= Limits.namedPaths, "too many paths")
            for path in paths { try check(path, ObjectPath.longest) }
        case .createItem(let properties, let sent, _):
            try check(properties.allPairs)
            try check(properties.label ?? "", Limits.label)
            try check(sent)
        case .setSecret(let sent): try check(sent)
        case .set(.pairs(let pairs)): try check(pairs)
        case .set(.label(let text)), .set(.type(let text)): try check(text, Limits.label)
        case .readAlias(let alias), .setAlias(let alias, _): try check(alias, Limits.name)
        case .deleteCollection, .deleteItem, .getSecret, .closeSession, .prompt, .dismiss,
            .retrieveSecret, .closePortalRequest, .get, .getAll, .introspect:
            break
        }
    }

    private static func check(_ text: String, _ limit: Int) throws {
        try require(text.utf8.count <= limit, "a text of \(text.utf8.count) bytes")
    }

    private static func check(_ pairs: Attributes) throws {
        // The type may be one more.
        try require(pairs.count <= Limits.pairs + 1, "\(pairs.count) pairs")
        for (name, value) in pairs {
            try check(name.pairName ?? "", Limits.pairName)
            if case .string(let text) = value { try check(text, Limits.pairValue) }
        }
    }

    private static func check(_ sent: SentSecret) throws {
        try require(sent.value.bytes.count <= Limits.secret + 16, "a secret")
        try check(sent.contentType, Limits.contentType)
        guard
            let plain = try? TransferCipher.decrypt(
                sent.value.bytes, initial: sent.parameters, key: key)
        else { return }
        try require(sent.parameters.count == 16, "a secret without a beginning")
        try require(plain.count < sent.value.bytes.count, "a secret without an end")
    }

    // MARK: What is done

    /// Of what lies in memory all, and of the keychain's what is before the keychain is asked.
    private static func answer(
        _ message: BusMessage, _ object: ObjectPath, _ request: ServiceRequest
    ) throws {
        let scope = Scope(
            keychains: EmbeddedPeers(NoKeychain()), peer: IntroducedPeer(handle: 0, groups: []),
            memory: MemoryCollection(isShared: false), exchange: ReadyExchange(), transfer: nil,
            window: nil, context: nil, cancellation: nil, standIns: [:])
        let work = CallWork(scope: scope, object: object, request: request, session: .plain())
        guard let outcome = try? work.outcome(asking: false) else { return }
        guard let reply = message.reply() else { return }
        try require(outcome.values.allSatisfy(reply.append), "an answer that can't be written")
    }
}

/// As where no daemon runs.
private final class NoKeychain: KeychainEndpoint {
    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer { throw .failed(.notAvailable) }
}

/// The other end of a connection to a bus: it greets, and then says what it is told to.
private final class FakeBus: @unchecked Sendable {
    static let shared = FakeBus()

    private static let (call, reply): (UInt8, UInt8) = (1, 2)
    private static let name = ":1.1"

    private let listener: Descriptor
    private let address: String
    private var connection: BusConnection?
    private var peer: Descriptor?
    private var serial: UInt32 = 1

    private init() {
        let name = "keychain-fuzz-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        address = "unix:abstract=\(name)"
        listener = Self.listening(at: name)
    }

    /// nil for what is no message.
    func hear(_ texts: [String], _ body: [UInt8]) -> BusMessage? {
        guard let bus = connection ?? connect(), let peer else { return nil }
        serial += 1
        let fields: [(code: UInt8, type: Character, text: String)] = [
            (1, "o", texts[0]), (2, "s", texts[1]), (3, "s", texts[2]), (7, "s", ":1.7"),
            (8, "g", texts[3]),
        ]
        Self.write(
            Self.message(Self.call, serial, fields.filter { !$0.text.isEmpty }, body), to: peer)
        while true {
            switch bus.next() {
            case .message(let message): return message
            case .progress: continue
            case .idle, .closed, .failed:
                // More of a message is waited for, or the library answered by itself.
                connection = nil
                self.peer = nil
                return nil
            }
        }
    }

    private func connect() -> BusConnection? {
        let (listener, accepted) = (listener, Accepted())
        guard
            DetachedThread.start({
                let peer = Descriptor(owning: accept(listener.number, nil, nil))
                accepted.peer.withLock { $0 = peer }
                Self.write(Self.greeting, to: peer)
            }), let made = try? BusConnection(address: address)
        else { return nil }
        // It has greeted.
        peer = accepted.peer.withLock { $0 }
        connection = made
        return made
    }

    private final class Accepted: Sendable {
        let peer = Mutex<Descriptor?>(nil)
    }

    /// Whatever the other side says: it is taken in, and its first call has its answer.
    private static var greeting: [UInt8] {
        let guid = String(repeating: "0", count: 32)
        return Array("DATA\r\nOK \(guid)\r\nAGREE_UNIX_FD\r\n".utf8)
            + message(
                reply, 1,
                [(5, "u", "\u{1}\0\0\0"), (7, "s", BusConnection.itself), (8, "g", "s")],
                text(name))
    }

    // MARK: Messages

    private static func message(
        _ type: UInt8, _ serial: UInt32, _ fields: [(code: UInt8, type: Character, text: String)],
        _ body: [UInt8]
    ) -> [UInt8] {
        var all: [UInt8] = []
        for (code, type, value) in fields {
            pad(&all)
            all += [code, 1, UInt8(type.asciiValue ?? 0), 0]
            switch type {
            case "u": all += Array(value.utf8)
            case "g": all += [UInt8(clamping: value.utf8.count)] + Array(value.utf8) + [0]
            default: all += text(value)
            }
        }
        var message: [UInt8] = [UInt8(ascii: "l"), type, 0, 1]
        for number in [UInt32(body.count), serial, UInt32(all.count)] { message += bytes(number) }
        message += all
        pad(&message)
        return message + body
    }

    private static func text(_ value: String) -> [UInt8] {
        bytes(UInt32(value.utf8.count)) + Array(value.utf8) + [0]
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func pad(_ bytes: inout [UInt8]) {
        while bytes.count % 8 != 0 { bytes.append(0) }
    }

    // MARK: Sockets

    private static func listening(at name: String) -> Descriptor {
        let number = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8)
        // Safe: the name is shorter than the place for it; bind reads the structure as long as it is.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let isBound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, length)
            }
        }
        precondition(isBound == 0 && listen(number, 1) == 0, "no socket can be made")
        return Descriptor(owning: number)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Descriptor) {
        // Safe: reads as many bytes as the array has.
        let sent = unsafe send(descriptor.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        precondition(sent == bytes.count || sent < 0, "the socket has no room")
    }
}

// MARK: Seeds

extension BusCalls {
    private static let root = "/org/freedesktop/secrets"
    private static let login = root + "/collection/login"
    private static let item = login + "/0123456789abcdef0123456789abcdef"
    private static let secret = "org.freedesktop.Secret."
    private static let properties = "org.freedesktop.DBus.Properties"

    /// A call of each member.
    static var seeds: [[UInt8]] {
        let session = root + "/session/0123456789abcdef0123456789abcdef"
        func pairs(_ body: Body) {
            body.text("user").text("zoe").align(8).text("xdg:schema").text("x")
        }
        func paths(_ body: Body) { body.text(item).text(login) }
        let label = Body().array(of: 8) {
            $0.text(secret + "Collection.Label").signature("s").text("Keys")
        }
        let new = Body().array(of: 8) {
            $0.text(secret + "Item.Label").signature("s").text("Key").align(8)
            $0.text(secret + "Item.Type").signature("s").text("x").align(8)
            $0.text(secret + "Item.Attributes").signature("a{ss}").array(of: 8, pairs)
        }.sent(session).number(1).all
        let search = Body().array(of: 8, pairs).all
        let named = Body().array(of: 4, paths)
        let open = Body().text("dh-ietf1024-sha256-aes128-cbc-pkcs7").signature("ay").bytes([2])
        let changed = Body().text("").text("Attributes").signature("a{ss}").array(of: 8, pairs)
        func texts(_ texts: String...) -> [UInt8] {
            texts.reduce(Body()) { $0.text($1) }.all
        }
        let service = secret + "Service"
        return [
            input(root, service, "OpenSession", "sv", open.all),
            input(
                root, service, "OpenSession", "sv", Body().text("plain").signature("s").text("").all
            ),
            input(root, service, "CreateCollection", "a{sv}s", label.text("default").all),
            input(root, service, "SearchItems", "a{ss}", search),
            input(root, service, "Unlock", "ao", named.all),
            input(root, service, "Lock", "ao", named.all),
            input(root, service, "ReadAlias", "s", texts("default")),
            input(root, service, "SetAlias", "so", texts("work", login)),
            input(root, service, "GetSecrets", "aoo", named.text(session).all),
            input(login, secret + "Collection", "Delete"),
            input(login, secret + "Collection", "SearchItems", "a{ss}", search),
            input(login, secret + "Collection", "CreateItem", "a{sv}(oayays)b", new),
            input(root + "/aliases/session", "", "CreateItem", "a{sv}(oayays)b", new),
            input(item, secret + "Item", "Delete"),
            input(item, secret + "Item", "GetSecret", "o", texts(session)),
            input(item, secret + "Item", "SetSecret", "(oayays)", Body().sent(session).all),
            input(session, secret + "Session", "Close"),
            input(root + "/prompt/0123456789abcdef0123456789abcdef", "", "Prompt", "s", texts("7")),
            input(item, properties, "Get", "ss", texts(secret + "Item", "Label")),
            input(item, properties, "GetAll", "s", texts("")),
            input(
                item, properties, "Set", "ssv",
                Body().text("").text("Label").signature("s").text("Key").all),
            input(item, properties, "Set", "ssv", changed.all),
            input(root + "/collection", "org.freedesktop.DBus.Introspectable", "Introspect"),
        ]
    }

    /// The values of a message, each where its type begins.
    private final class Body {
        private(set) var all: [UInt8] = []

        @discardableResult
        func align(_ place: Int) -> Body {
            while all.count % place != 0 { all.append(0) }
            return self
        }

        @discardableResult
        func number(_ number: Int) -> Body {
            align(4)
            all += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return self
        }

        @discardableResult
        func text(_ text: String) -> Body {
            number(text.utf8.count)
            all += Array(text.utf8) + [0]
            return self
        }

        @discardableResult
        func signature(_ text: String) -> Body {
            all += [UInt8(text.utf8.count)] + Array(text.utf8) + [0]
            return self
        }

        @discardableResult
        func bytes(_ bytes: [UInt8]) -> Body {
            number(bytes.count)
            all += bytes
            return self
        }

        /// Elements of that alignment.
        @discardableResult
        func array(of alignment: Int, _ fill: (Body) -> Void) -> Body {
            number(0)
            let length = all.count - 4
            align(alignment)
            let start = all.count
            fill(self)
            let count = all.count - start
            for place in 0..<4 {
                all[length + place] = UInt8(truncatingIfNeeded: count >> (8 * place))
            }
            return self
        }

        /// A secret, as one block that a key of sixteen bytes may have made.
        @discardableResult
        func sent(_ session: String) -> Body {
            align(8).text(session).bytes([UInt8](repeating: 1, count: 16))
                .bytes([UInt8](repeating: 2, count: 16)).text("text/plain")
        }
    }
}
