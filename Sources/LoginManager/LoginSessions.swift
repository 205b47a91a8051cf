// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// logind's facts about sessions. Where logind does not run, all are unknown and no call fails.
package enum LoginSessions {
    /// Whether the session exists and is not closing; nil without logind.
    package static func isAlive(_ session: String) -> Bool? {
        guard isRunning else { return nil }
        var state: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_session_get_state(session, &state) >= 0, let text = unsafe state else {
            return false
        }
        defer { unsafe free(text) }
        return unsafe String(cString: text) != "closing"
    }

    /// The session's user; nil where that can't be told.
    package static func user(of session: String) -> UInt32? {
        var user: uid_t = 0
        // Safe: writes one number.
        return unsafe sd_session_get_uid(session, &user) >= 0 ? user : nil
    }

    /// Whether the session is in the foreground on its seat; nil where that can't be told.
    package static func isActive(_ session: String) -> Bool? {
        // Safe: the text is passed for the call alone, and the answer is a number.
        let answer = unsafe sd_session_is_active(session)
        return answer < 0 ? nil : answer > 0
    }

    package static func isRemote(_ session: String) -> Bool? {
        // Safe: as above.
        let answer = unsafe sd_session_is_remote(session)
        return answer < 0 ? nil : answer > 0
    }

    /// The user's logins as logind counts them: without jobs and service managers, and without
    /// closing ones, which only have leftover programs.
    package static func logins(of user: UInt32) -> [String] {
        var sessions: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // Safe: the library allocates the list and its texts, which are freed here. -1: all of them.
        let count = unsafe sd_uid_get_sessions(user, -1, &sessions)
        guard count > 0, let list = unsafe sessions else { return [] }
        defer { unsafe free(list) }
        var logins: [String] = []
        for place in 0..<Int(count) {
            // Safe: the list has that many texts.
            guard let text = unsafe list[place] else { break }
            let session = unsafe String(cString: text)
            if isAlive(session) != false, isLogin(session) { logins.append(session) }
            unsafe free(text)
        }
        return logins
    }

    /// A session without a class counts as a login.
    private static func isLogin(_ session: String) -> Bool {
        var kind: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_session_get_class(session, &kind) >= 0, let text = unsafe kind else {
            return true
        }
        defer { unsafe free(text) }
        return unsafe String(cString: text).hasPrefix("user")
    }

    /// Whether the session began as a graphical one; nil where that can't be told.
    package static func isGraphical(_ session: String) -> Bool? {
        file(of: session)?.type.map(graphicalTypes.contains)
    }

    private static let graphicalTypes = ["x11", "wayland", "mir"]

    /// How a session on a seat began, as `wayland`, `x11` or `tty`; nil for one without a seat, and
    /// where that can't be told.
    package static func typeOnSeat(_ session: String) -> String? {
        file(of: session).flatMap { $0.seat == nil ? nil : $0.type }
    }

    /// The login that shows windows to the user; nil where there is none, or it is unknown.
    package static func display(of user: UInt32) -> String? {
        var session: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_uid_get_display(user, &session) >= 0, let text = unsafe session else {
            return nil
        }
        defer { unsafe free(text) }
        let name = unsafe String(cString: text)
        return isGraphical(name) == true ? name : nil
    }

    /// N of the X display `:N` that root named when the session began, or that its own desktop has
    /// set since.
    package static func display(ofSession session: String) -> UInt32? {
        var display: UnsafeMutablePointer<CChar>?
        // Safe: the library allocates the text, which is freed here.
        guard unsafe sd_session_get_display(session, &display) >= 0, let text = unsafe display
        else { return nil }
        defer { unsafe free(text) }
        let name = unsafe String(cString: text)
        return name.hasPrefix(":") ? UInt32(name.dropFirst().prefix { $0 != "." }) : nil
    }

    /// The process that opened the session.
    package static func leader(of session: String) -> Int32? { file(of: session)?.leader }

    /// The process to which logind gave the session's screen and keyboard (TakeControl): at most
    /// one, and no program of the user can replace it while it lives. A session may have none, and
    /// then any program of its user can become it.
    package static func controller(of session: String) -> Int32? {
        guard let name = file(of: session)?.controller, let bus = SystemBus() else { return nil }
        let itself = SystemBus.itself
        let answer = bus.call(
            itself, "/org/freedesktop/DBus", itself, "GetConnectionUnixProcessID", name)
        return answer?.uint32().flatMap { Int32(exactly: $0) }
    }

    private static func file(of session: String) -> SessionFile? {
        guard !session.isEmpty, !session.contains("/"), !session.hasPrefix("."),
            // Safe: the mode is a constant; the file is closed below.
            let file = unsafe fopen("/run/systemd/sessions/" + session, "re")
        else { return nil }
        defer { unsafe _ = fclose(file) }
        var buffer = [UInt8](repeating: 0, count: longestFile)
        // Safe: the library writes at most the buffer's length.
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        return SessionFile(String(decoding: buffer.prefix(count), as: UTF8.self))
    }

    private static let longestFile = 64 * 1024

    // Safe: the path is a constant text; the call writes nothing.
    private static var isRunning: Bool { unsafe access("/run/systemd/seats/", F_OK) == 0 }
}
