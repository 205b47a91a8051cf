// SPDX-License-Identifier: Apache-2.0
internal import KeychainLocalSocket
internal import LoginManager

/// The processes that control login sessions' screens.
package enum ScreenControllers {
    /// The numbers under which an X server of root's is looked for.
    private static let displays = 100

    /// nil for a session that nothing controls, and for one of X11 where root runs an X server: such a
    /// session needs no controller, and any program of its user could become it.
    package static func controller(of session: String) -> Int32? {
        if LoginSessions.typeOnSeat(session) == "x11", hasRootsServer { return nil }
        return LoginSessions.controller(of: session)
    }

    private static var hasRootsServer: Bool {
        (0..<displays).contains { AbstractSocket.listener("/tmp/.X11-unix/X\($0)")?.user == 0 }
    }
}
