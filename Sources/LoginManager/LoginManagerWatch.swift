// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// Listens to logind, on a thread of its own, for the life of the process. Where the bus is absent,
/// restarts or hangs, it is retried, and no request waits for it.
///
/// While it listens it delays sleep and shutdown until `handle` has returned from being told of
/// them.
package final class LoginManagerWatch: Sendable {
    static let service = "org.freedesktop.login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let folder = "/org/freedesktop/login1"
    private static let sessions = "/org/freedesktop/login1/session"
    private static let pauseSeconds: UInt32 = 2
    /// After this time without a message the bus is asked whether it is alive.
    private static let silence: Duration = .seconds(60)
    private static let mostSessions = 4096

    private let handle: @Sendable (LoginManagerEvent) -> Void

    /// `handle` is called by one thread, and may block.
    package init(handle: @escaping @Sendable (LoginManagerEvent) -> Void) { self.handle = handle }

    /// Never returns.
    package func run() -> Never {
        while true {
            if let bus = SystemBus() { follow(bus) }
            _ = sleep(Self.pauseSeconds)
        }
    }

    private func follow(_ bus: SystemBus) {
        guard Self.subscribe(bus) else { return }
        var hearing = Hearing(bus: bus)
        defer { if hearing.owner != nil { handle(.absent) } }
        meet(bus.owner(of: Self.service), &hearing)
        while true {
            switch bus.next(within: Self.silence) {
            case .message(let message): hear(message, &hearing)
            case .nothing:
                // Returning early does no harm: the bus is asked no more often than after each such
                // silence.
                guard hearing.isBusAlive(after: Self.silence) else { return }
            case .broken: return
            }
        }
    }

    private static func subscribe(_ bus: SystemBus) -> Bool {
        [
            "type='signal',sender='\(service)',interface='\(manager)'",
            "type='signal',sender='\(service)',interface='\(session)'",
            "type='signal',sender='\(service)',interface='\(properties)',"
                + "path_namespace='\(sessions)'",
            "type='signal',sender='\(SystemBus.itself)',member='NameOwnerChanged',"
                + "arg0='\(service)'",
        ].allSatisfy(bus.subscribe)
    }

    // MARK: The sender

    /// The state of one connection.
    private struct Hearing {
        let bus: SystemBus
        /// logind's unique name on the bus: any process can send this one a signal.
        var owner: String?
        /// The delay of sleep and shutdown, which ends when this is released.
        var inhibitor: Inhibitor?
        private var heard = ContinuousClock.now

        init(bus: SystemBus) { self.bus = bus }

        mutating func isBusAlive(after silence: Duration) -> Bool {
            guard heard.duration(to: .now) >= silence else { return true }
            heard = .now
            return bus.answers()
        }
    }

    /// Delays sleep and shutdown until it is released.
    private final class Inhibitor {
        private let descriptor: Int32

        init?(_ bus: SystemBus) {
            let granted = bus.call(
                service, folder, manager, "Inhibit", "sleep:shutdown", "Keychain Services",
                "Keys are taken out of memory", "delay")
            guard let descriptor = granted?.descriptor() else { return nil }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }
    }

    private func meet(_ owner: String?, _ hearing: inout Hearing) {
        if hearing.owner != nil, owner == nil { handle(.absent) }
        hearing.owner = owner
        hearing.inhibitor = nil
        guard owner != nil else { return }
        hearing.inhibitor = Inhibitor(hearing.bus)
        handle(.present(lockedScreens: Self.lockedScreens(hearing.bus)))
    }

    private static func lockedScreens(_ bus: SystemBus) -> Set<String> {
        var found: [(id: String, path: String)] = []
        let answer = bus.call(service, folder, manager, "ListSessions")
        answer?.each("(susso)") {
            answer?.structure("susso") {
                guard let id = answer?.string(), answer?.skip("uss") == true,
                    let path = answer?.objectPath()
                else { return false }
                found.append((id, path))
                return true
            } ?? false
        }
        var locked: Set<String> = []
        for session in found.prefix(mostSessions) {
            guard let isLocked = isLocked(session.path, bus) else { continue }
            if isLocked { locked.insert(session.id) }
        }
        return locked
    }

    private static func isLocked(_ path: String, _ bus: SystemBus) -> Bool? {
        var isLocked: Bool?
        let answer = bus.call(service, path, properties, "Get", session, "LockedHint")
        _ = answer?.variant("b") {
            isLocked = answer?.bool()
            return isLocked != nil
        }
        return isLocked
    }

    // MARK: The messages

    private func hear(_ message: BusMessage, _ hearing: inout Hearing) {
        if message.sender == SystemBus.itself, message.member == "NameOwnerChanged" {
            guard message.string() == Self.service, message.skip("s") else { return }
            let owner = message.string()
            return meet(owner?.isEmpty == false ? owner : nil, &hearing)
        }
        guard let owner = hearing.owner, message.sender == owner, let member = message.member
        else { return }
        switch (message.interface, member) {
        case (Self.manager, "PrepareForSleep"): prepare(message, &hearing, sleeping)
        case (Self.manager, "PrepareForShutdown"):
            prepare(message, &hearing) { _ in handle(.shuttingDown) }
        case (Self.manager, "SessionRemoved"):
            if let id = message.string() { handle(.sessionEnded(id)) }
        case (Self.manager, "UserRemoved"):
            if let user = message.uint32() { handle(.userLeft(user)) }
        case (Self.session, "Lock"):
            if let id = Self.sessionID(message) { handle(.lockRequested(session: id)) }
        case (Self.properties, "PropertiesChanged"): changed(message, hearing.bus)
        default: return
        }
    }

    /// `true` comes before sleep or shutdown, and is acted upon; `false` comes when it is over.
    private func prepare(
        _ message: BusMessage, _ hearing: inout Hearing, _ act: (SystemBus) -> Void
    ) {
        guard let isBeginning = message.bool() else { return }
        guard isBeginning else {
            hearing.inhibitor = Inhibitor(hearing.bus)
            return
        }
        act(hearing.bus)
        hearing.inhibitor = nil
    }

    /// logind does not say which kind of sleep it will be. Where it says that this machine can
    /// write its memory to the disk in any of three ways, or does not answer, the sleep may be one
    /// that does: an administrator can forbid plain hibernation and leave the others.
    private func sleeping(_ bus: SystemBus) {
        handle(.sleeping)
        let cannot = ["CanHibernate", "CanHybridSleep", "CanSuspendThenHibernate"].allSatisfy {
            bus.call(Self.service, Self.folder, Self.manager, $0)?.string() == "na"
        }
        if !cannot { handle(.mayHibernate) }
    }

    private func changed(_ message: BusMessage, _ bus: SystemBus) {
        guard let id = Self.sessionID(message), message.string() == Self.session else { return }
        var isLocked: Bool?
        var isNamed = false
        message.each("{sv}") {
            message.entry("sv") {
                guard message.string() == "LockedHint" else { return message.skip("v") }
                return message.variant("b") {
                    isLocked = message.bool()
                    return isLocked != nil
                }
            }
        }
        message.each("s") {
            let name = message.string()
            isNamed = isNamed || name == "LockedHint"
            return name != nil
        }
        if isNamed, let path = message.path { isLocked = Self.isLocked(path, bus) ?? true }
        if let isLocked { handle(.screen(session: id, isLocked: isLocked)) }
    }

    private static func sessionID(_ message: BusMessage) -> String? {
        guard let path = message.path else { return nil }
        var id: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_bus_path_decode(path, sessions, &id) > 0, let text = unsafe id else {
            return nil
        }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
