// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// Hears what logind says, on a thread of its own, for as long as the process lives. A bus that is
/// absent, restarts or hangs is tried again and again, and no request waits for it.
///
/// While it hears logind it holds sleep and shutdown up, until `handle` has come back from being
/// told of them.
package final class LoginManagerWatch: Sendable {
    static let service = "org.freedesktop.login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let folder = "/org/freedesktop/login1"
    private static let sessions = "/org/freedesktop/login1/session"
    private static let pauseSeconds: UInt32 = 2
    /// After which the bus is asked whether it still lives.
    private static let silence: Duration = .seconds(60)
    private static let mostSessions = 4096

    private let handle: @Sendable (LoginManagerEvent) -> Void

    /// `handle` is called by one thread, and may take its time.
    package init(handle: @escaping @Sendable (LoginManagerEvent) -> Void) { self.handle = handle }

    /// Does not come back.
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
                // Early or not: it is asked no more often than it has been silent.
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

    // MARK: Who speaks

    /// What is known while one connection lasts.
    private struct Hearing {
        let bus: SystemBus
        /// logind's own name on the bus: a signal can be sent to us by any process.
        var owner: String?
        /// Closed by logind's side of the bargain when it is let go.
        var inhibitor: Inhibitor?
        private var heard = ContinuousClock.now

        init(bus: SystemBus) { self.bus = bus }

        mutating func isBusAlive(after silence: Duration) -> Bool {
            guard heard.duration(to: .now) >= silence else { return true }
            heard = .now
            return bus.answers()
        }
    }

    /// Holds sleep and shutdown up until it ends.
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

    // MARK: What is said

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

    /// `true` is said before, and acted upon; `false` when all is as before.
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

    /// logind does not say which sleep it will be. Where it says, or will not say, that this
    /// machine can write its memory to the disk in any of the three ways, each may be one that
    /// does: an administrator can forbid plain hibernation and leave the others.
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
