// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainImport
internal import KeychainLinuxSystem
internal import MessageBus

/// Why a call to the service came to nothing.
enum ServiceRefusal: Error, Equatable {
    /// An error, which the service chose.
    case refused(String)
    /// Something longer than an item here may have.
    case tooLong
    /// No answer in time, none that the interface has, or the bus is gone.
    case broken
}

/// Calls to one program on a bus, one after the other, and their answers.
struct ServiceCalls {
    static let longestPath = 4096
    private static let patience: Duration = .seconds(30)
    /// In which its user may type a password.
    private static let patienceOfPrompt: Duration = .seconds(300)
    private static let prompts = "org.freedesktop.Secret.Prompt"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// As the kernel cuts it off.
    private static let ownProgram = "keychain-secret"

    private let bus: BusConnection
    /// Its own name on the bus: what comes from another program is no answer of its.
    private let owner: String

    /// nil where there is no bus, or no program on it has the name.
    init?(name: String, address: String) {
        let address = address.isEmpty ? BusAddress(ofUser: getuid()) : BusAddress(address)
        guard let address, let bus = try? BusConnection(address: address.text)
        else { return nil }
        self.bus = bus
        let call = bus.callToItself("GetNameOwner")
        guard
            let owner = try? Self.answer(
                call, [.text(name)], "s", from: BusConnection.itself, bus,
                {
                    message throws(BusReadError) in try message.text(atMost: 255)
                })
        else { return nil }
        self.owner = owner
    }

    /// Whether it is this package's: all that it has is in the keychain already.
    func isOwn() throws(ImportError) -> Bool {
        let process: UInt32
        do throws(ServiceRefusal) {
            process = try Self.answer(
                bus.callToItself("GetConnectionUnixProcessID"), [.text(owner)], "u",
                from: BusConnection.itself, bus
            ) { message throws(BusReadError) in try message.uint32() }
        } catch { throw .strangeService }
        let name = KernelFile.read("/proc/\(process)/comm", limit: 64) ?? []
        return name.starts(with: Self.ownProgram.utf8)
    }

    func call<R>(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        _ signature: String, _ read: (BusMessage) throws(BusReadError) -> R
    ) throws(ServiceRefusal) -> R {
        try Self.answer(
            bus.call(owner, path, interface, member), arguments, signature, from: owner, bus, read)
    }

    /// The same, where an error ends the import.
    func ask<R>(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        _ signature: String, _ read: (BusMessage) throws(BusReadError) -> R
    ) throws(ImportError) -> R {
        do throws(ServiceRefusal) {
            return try call(path, interface, member, arguments, signature, read)
        } catch { throw error == .tooLong ? .tooLarge : .strangeService }
    }

    func property<R>(
        _ name: String, _ signature: String, _ path: String, _ interface: String,
        _ read: (BusMessage) throws(BusReadError) -> R
    ) throws(ImportError) -> R {
        try ask(
            path, Self.properties, "Get", [.text(interface), .text(name)], "v"
        ) { message throws(BusReadError) in
            try message.variant(signature) { () throws(BusReadError) in try read(message) }
        }
    }

    /// `read` gets each property's name and signature, and reads or skips its value.
    func properties(
        _ path: String, _ interface: String,
        _ read: (String, String, BusMessage) throws(BusReadError) -> Void
    ) throws(ServiceRefusal) {
        try call(
            path, Self.properties, "GetAll", [.text(interface)], "a{sv}"
        ) { message throws(BusReadError) in
            try message.each("{sv}") { () throws(BusReadError) in
                try message.entry("sv") { () throws(BusReadError) in
                    let name = try message.text(atMost: 255)
                    let contents = try message.variantSignature()
                    try message.variant(contents) { () throws(BusReadError) in
                        try read(name, contents, message)
                    }
                }
            }
        }
    }

    /// Has the service ask its user; whether the user agreed.
    func prompt(_ path: String) throws(ImportError) -> Bool {
        let rule = """
            type='signal',sender='\(owner)',path='\(path)',\
            interface='\(Self.prompts)',member='Completed'
            """
        do throws(ServiceRefusal) {
            try Self.answer(
                bus.callToItself("AddMatch"), [.text(rule)], "", from: BusConnection.itself, bus
            ) { _ throws(BusReadError) in }
            guard let call = bus.call(owner, path, Self.prompts, "Prompt"), call.append(.text("")),
                let cookie = bus.send(call)
            else { throw .broken }
            return try Self.next(bus, for: Self.patienceOfPrompt) { message in
                if message.repliesTo == cookie, message.kind == .error { return false }
                guard message.kind == .signal, message.sender == owner, message.path == path,
                    message.member == "Completed", let isDismissed = try? message.bool()
                else { return nil }
                return !isDismissed
            }
        } catch { return false }
    }

    // MARK: Waiting

    private static func answer<R>(
        _ call: BusMessage?, _ arguments: [BusValue], _ signature: String, from sender: String,
        _ bus: BusConnection, _ read: (BusMessage) throws(BusReadError) -> R
    ) throws(ServiceRefusal) -> R {
        guard let call, arguments.allSatisfy(call.append), let cookie = bus.send(call) else {
            throw .broken
        }
        let reply = try next(bus, for: patience) { message in
            message.repliesTo == cookie
                && (message.sender == sender || message.sender == BusConnection.itself)
                ? message : nil
        }
        defer { reply.wipeBytes() }
        guard reply.kind != .error else { throw .refused(reply.errorName ?? "") }
        guard reply.kind == .reply, reply.signature == signature else { throw .broken }
        do throws(BusReadError) { return try read(reply) } catch {
            throw error == .tooLong ? .tooLong : .broken
        }
    }

    /// The first message that is meant; others are let go.
    private static func next<R>(
        _ bus: BusConnection, for patience: Duration, _ meant: (BusMessage) -> R?
    ) throws(ServiceRefusal) -> R {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            switch bus.next() {
            case .message(let message): if let found = meant(message) { return found }
            case .progress: continue
            case .idle: bus.wait(until: deadline, or: nil)
            case .closed, .failed: throw .broken
            }
        }
        throw .broken
    }
}
