// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// What logind knows of sessions. Where it does not run, nothing is known and nothing fails.
public enum LoginSessions {
    /// Whether the session exists and is not closing; nil where there is no logind to know.
    public static func isAlive(_ session: String) -> Bool? {
        guard isRunning else { return nil }
        var state: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_session_get_state(session, &state) >= 0, let text = unsafe state else {
            return false
        }
        defer { unsafe free(text) }
        return unsafe String(cString: text) != "closing"
    }

    /// Whether it is the one in front on its seat; nil where that can't be told.
    public static func isActive(_ session: String) -> Bool? {
        let answer = unsafe sd_session_is_active(session)
        return answer < 0 ? nil : answer > 0
    }

    public static func isRemote(_ session: String) -> Bool? {
        let answer = unsafe sd_session_is_remote(session)
        return answer < 0 ? nil : answer > 0
    }

    /// Whether it has a screen and not only a terminal; nil where that can't be told.
    public static func isGraphical(_ session: String) -> Bool? {
        var type: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_session_get_type(session, &type) >= 0, let text = unsafe type else {
            return nil
        }
        defer { unsafe free(text) }
        return unsafe ["x11", "wayland", "mir"].contains(String(cString: text))
    }

    /// The login that shows windows to the user; nil where he has none, or nobody knows.
    public static func display(of user: UInt32) -> String? {
        var session: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_uid_get_display(user, &session) >= 0, let text = unsafe session else {
            return nil
        }
        defer { unsafe free(text) }
        let name = unsafe String(cString: text)
        return isGraphical(name) == true ? name : nil
    }

    private static var isRunning: Bool { unsafe access("/run/systemd/seats/", F_OK) == 0 }
}

/// Tells when anything changed about sessions, without asking each time.
@safe public final class SessionMonitor: @unchecked Sendable {
    private let monitor: OpaquePointer

    /// nil where there is no logind.
    public init?() {
        var made: OpaquePointer?
        // Safe: the library makes the object, which is freed at the end.
        guard unsafe sd_login_monitor_new("session", &made) >= 0, let made = unsafe made else {
            return nil
        }
        unsafe monitor = made
    }

    deinit { unsafe sd_login_monitor_unref(monitor) }

    /// Whether something changed since this was last asked.
    public func changed() -> Bool {
        var item = unsafe pollfd(
            fd: sd_login_monitor_get_fd(monitor), events: Int16(POLLIN), revents: 0)
        // Safe: one element, which is this function's own.
        guard unsafe poll(&item, 1, 0) > 0 else { return false }
        unsafe sd_login_monitor_flush(monitor)
        return true
    }
}
