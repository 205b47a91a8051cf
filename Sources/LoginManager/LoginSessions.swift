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

    /// Whose it is; nil where that can't be told.
    public static func user(of session: String) -> UInt32? {
        var user: uid_t = 0
        // Safe: writes one number.
        return unsafe sd_session_get_uid(session, &user) >= 0 ? user : nil
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
