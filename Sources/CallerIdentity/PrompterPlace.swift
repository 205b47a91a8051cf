// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainModel
internal import KeychainMessages
internal import LoginManager

/// A place where questions are shown, and the programs it serves: those of the display's login, or
/// those of one terminal. No program can have another program's questions shown where only itself
/// looks.
package enum PrompterPlace: Hashable, Sendable {
    /// By the name that logind gave the login: a program that a service manager started knows no
    /// other name of it.
    case display(user: UInt32, login: String)
    /// A terminal, by the Unix session that it controls.
    case terminal(user: UInt32, device: UInt32, session: Int32)

    /// The places where the program's questions may be shown, the best first.
    package static func all(for caller: Caller) -> [PrompterPlace] {
        let display = caller.display.map { PrompterPlace.display(user: caller.user, login: $0) }
        return [display, terminal(of: caller)].compactMap { $0 }
    }

    package static func terminal(of caller: Caller) -> PrompterPlace? {
        guard let device = caller.terminal, let session = caller.terminalSession else {
            return nil
        }
        return .terminal(user: caller.user, device: device, session: session)
    }

    package var isTerminal: Bool {
        if case .terminal = self { return true }
        return false
    }
}

/// The program that shows a login's windows to its user: root's X server under the number that
/// logind knows, or the process that controls the screen and keyboard by logind's word. While it
/// lives it holds the name of the display's socket, so a dialog on that display is on the user's
/// screen.
package final class LoginScreen: Sendable {
    package let server: PinnedProcess

    /// nil where that does not hold or can't be looked up: any program of the user can run an X
    /// server that shows its windows to no user.
    ///
    /// `controller` gives the process that controls a login's screen (`LoginSessions`).
    init?(
        _ server: DisplayServer, of login: String, _ user: UInt32,
        controller: (_ login: String) -> Int32?
    ) {
        guard let process = PinnedProcess(pid: server.process, pidfd: nil) else { return nil }
        if server.user == 0 {
            guard LoginSessions.display(ofSession: login) == server.number else { return nil }
        } else {
            guard server.user == user, Self.isShownByItsUser(login),
                let controller = controller(login),
                Self.listens(process, for: controller)
            else { return nil }
        }
        self.server = process
    }

    package var isAlive: Bool { server.isAlive }

    /// Whether the login's windows are shown by a program of its user's, which controls the screen
    /// as long as there are windows. Without a seat, on a text console or with an X server of
    /// root's, a login needs no controller, and any program of the user could become it.
    private static func isShownByItsUser(_ login: String) -> Bool {
        switch LoginSessions.typeOnSeat(login) {
        // keychaind tells no controller where an X server of root's runs.
        case "wayland"?, "mir"?, "x11"?: true
        default: false
        }
    }

    /// Whether the server listens for the controller. A compositor may get its sockets from the
    /// parent that supervises it, but not from its user's service manager: that one listens for
    /// every unit that the user writes, and is in a control group of its own.
    private static func listens(_ server: PinnedProcess, for controller: Int32) -> Bool {
        if server.id == controller { return true }
        guard let process = PinnedProcess(pid: controller, pidfd: nil),
            process.status()?.parent == server.id, let group = process.cgroup()
        else { return false }
        return group == server.cgroup()
    }
}
