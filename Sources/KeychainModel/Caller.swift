// SPDX-License-Identifier: Apache-2.0

/// The program that makes a request, as the kernel identifies it (docs/design/identity.md). A
/// class, as each step of a request passes it on.
public final class Caller: Sendable, Equatable {
    /// The program's identity, strongest kind first.
    public enum Identity: Sendable, Hashable {
        case label(String)
        case sandbox(String)
        case unit(String)
        /// An executable that only root can change.
        case trustedExecutable(String)
        /// An executable that a user other than root could have changed.
        case executable(String)
        /// The identity could not be established, or changed during the request.
        case unknown

        /// The program's application identifier, which is also the name of its own access group.
        public var identifier: String? {
            switch self {
            case .label(let label): label
            case .sandbox(let name): name
            case .unit(let name): "unit:" + name
            case .trustedExecutable(let path), .executable(let path): "exe:" + path
            case .unknown: nil
            }
        }
    }

    /// The service that relays the requests of a program that did not connect itself. A name that
    /// such a service gives is worth no more than a path (docs/design/identity.md, Relayed
    /// programs).
    public enum Via: String, Sendable, Hashable, CaseIterable {
        case secretService = "secret-service"
        case portal
    }

    public let user: UInt32
    public let process: Int32
    public let identity: Identity
    /// The identity's own identifier, computed once.
    public let identifier: String?
    public let strength: ProgramStrength?
    /// The login session that the program runs in; nil when unknown.
    public let session: SessionID?
    /// Device number of the program's controlling terminal; nil when it has none.
    public let terminal: UInt32?
    /// The Unix session that the terminal controls. Terminals of different mounts can have the same
    /// device number; each controls another Unix session.
    public let terminalSession: Int32?
    /// In order; new items go to the first by default.
    public let accessGroups: [String]
    /// logind's name of the login that shows windows to the program's user: the login that the
    /// program runs in, or the user's where it runs under the user's service manager and in no
    /// login. Decides where the user is asked, and nothing else.
    public let display: String?
    /// nil for a program that connected itself.
    public let via: Via?

    public init(
        user: UInt32, process: Int32, identity: Identity, session: SessionID?, terminal: UInt32?,
        terminalSession: Int32? = nil, accessGroups: [String], display: String? = nil,
        via: Via? = nil
    ) {
        self.user = user
        self.process = process
        self.identity = identity
        identifier = identity.identifier
        strength = identity.strength
        self.session = session
        self.terminal = terminal
        self.terminalSession = terminalSession
        self.accessGroups = accessGroups
        self.display = display
        self.via = via
    }

    public static func == (a: Caller, b: Caller) -> Bool {
        a === b
            || (a.user == b.user && a.process == b.process && a.identity == b.identity
                && a.session == b.session && a.terminal == b.terminal
                && a.terminalSession == b.terminalSession && a.accessGroups == b.accessGroups
                && a.display == b.display && a.via == b.via)
    }

    /// Whether the program is the machine's own: root's, or named by the kernel for any user. A
    /// path or a snap does not count, as every user starts those with any arguments; nor does a
    /// program that a deputy relays.
    public var isOfMachine: Bool {
        guard via == nil else { return false }
        return switch identity {
        case .unit: true
        case .label(let label): user == 0 || label.hasPrefix("selinux:")
        case .sandbox, .trustedExecutable, .executable, .unknown: user == 0
        }
    }

    /// The same program, with another group for its new items.
    public func withHome(_ group: String) -> Caller {
        Caller(
            user: user, process: process, identity: identity, session: session,
            terminal: terminal, terminalSession: terminalSession,
            accessGroups: [group] + accessGroups, display: display, via: via)
    }

    /// The same program, as one of another session.
    public func inSession(_ session: SessionID?, display: String?) -> Caller {
        Caller(
            user: user, process: process, identity: identity, session: session,
            terminal: terminal, terminalSession: terminalSession, accessGroups: accessGroups,
            display: display, via: via)
    }
}

/// A login session, named by the serial number of its ticket in the kernel; negative numbers are
/// unlocks from outside any login.
public struct SessionID: Sendable, Hashable, RawRepresentable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// The user's logins that were alive at one look. Each request takes one look for everything it
/// asks; after a wait a new look must be taken.
package struct LiveLogins: Sendable {
    package let user: UInt32
    package let sessions: [SessionID]
    /// Of all logins: another number once a login has come or gone.
    package let changes: UInt64

    package init(of user: UInt32, _ sessions: [SessionID], changes: UInt64) {
        self.user = user
        self.sessions = sessions
        self.changes = changes
    }
}

/// Names of access groups.
extension [String] {
    /// The group of that name, compared by bytes: names that only look alike are different groups.
    package func firstSame(as group: String) -> String? {
        first { $0.hasSameBytes(as: group) }
    }

    package func hasSame(as group: String) -> Bool { contains { $0.hasSameBytes(as: group) } }

    /// Each group once, without the client's own.
    package func distinct(besides own: [String]) -> [String] {
        var kept: [String] = []
        for group in self where !(own + kept).hasSame(as: group) { kept.append(group) }
        return kept
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes. `==` also equates texts that differ in bytes and
    /// look alike.
    package func hasSameBytes(as other: String) -> Bool {
        let (mine, others) = (utf8Span.span, other.utf8Span.span)
        guard mine.count == others.count else { return false }
        for place in mine.indices where mine[place] != others[place] { return false }
        return true
    }
}
