// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainImport
internal import KeychainLinuxSystem
internal import MessageBus

/// Why a call to the service failed.
enum ServiceRefusal: Error, Equatable {
    /// An error by the service's choice.
    case refused(String)
    /// A value that is longer than an item may have.
    case tooLong
    /// There is no answer in time, none that fits the interface, or no bus any more.
    case broken
}

/// Calls to one program on a bus, one after the other, and their answers.
struct ServiceCalls {
    static let longestPath = 4096
    private static let patience: Duration = .seconds(30)
    /// The time in which the user may type a password.
    private static let patienceOfPrompt: Duration = .seconds(300)
    private static let prompts = "org.freedesktop.Secret.Prompt"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// The program's name as the kernel cuts it off.
    private static let ownProgram = "keychain-secret"

    private let bus: BusConnection
    /// The program's own name on the bus: messages from other names are not its answers.
    private let owner: String

    /// nil where there is no bus, or no program owns the name.
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

    /// Whether it is this package's own program, whose items are all in the keychain already.
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

    /// The same call, where an error ends the import.
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

    /// Lets the service ask its user; returns whether the user agreed.
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

    /// The first message that fits; others are dropped.
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
