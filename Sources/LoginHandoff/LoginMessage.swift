// SPDX-License-Identifier: Apache-2.0
internal import CLoginFrame
package import KeychainSecrets

/// The frames that `pam-module/frame` defines, as Swift values.
package enum LoginMessage {
    static let headerBytes = Int(KC_LOGIN_HEADER_SIZE)
    /// Behind magic and version.
    private static let verbAt = 6

    /// The length of the body that a header announces; throws for a header that can't be read here.
    static func bodyCount(_ header: RawSpan) throws(LoginHandoffError) -> Int {
        guard header.byteCount == headerBytes else { throw .malformed }
        var count = 0
        // Safe: the header has the size that the function reads.
        let status = unsafe header.withUnsafeBytes { header in
            unsafe kc_login_header_check(
                header.assumingMemoryBound(to: UInt8.self).baseAddress!, &count)
        }
        try check(status)
        return count
    }

    /// Whether a frame that begins so, with a whole header, has the verb of a question for a number.
    static func asksForNumber(_ beginning: [UInt8]) -> Bool {
        guard beginning.count >= headerBytes else { return false }
        // Safe: the length was checked, and a byte fits into a larger number.
        return UInt32(beginning[verbAt]) | UInt32(beginning[verbAt + 1]) << 8
            == KC_LOGIN_NUMBER.rawValue
    }

    /// Reads exactly one frame. The passwords are copied from locked memory into locked memory.
    package static func request(
        in frame: borrowing SecretBytes
    ) throws(LoginHandoffError) -> LoginRequest {
        try frame.withBytes { frame throws(LoginHandoffError) in
            var read = unsafe kc_login_frame()
            // Safe: the views that come back point into `frame`, and are used up in this closure.
            let status = unsafe frame.withUnsafeBytes { bytes in
                unsafe kc_login_frame_decode(
                    bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, &read)
            }
            try check(status)
            return try unsafe request(read)
        }
    }

    static func bytes(of reply: LoginReply) -> [UInt8] {
        var frame = unsafe kc_login_frame()
        switch reply {
        case .accepted:
            unsafe frame.verb = KC_LOGIN_ACCEPTED
        case .acceptedWithNotice(let notice):
            unsafe frame.verb = KC_LOGIN_ACCEPTED_WITH_NOTICE
            unsafe frame.notice = notice.rawValue
        case .refused(let reason):
            unsafe frame.verb = KC_LOGIN_REFUSED
            unsafe frame.reason = reason.rawValue
        case .number(let number):
            unsafe frame.verb = KC_LOGIN_NUMBER_IS
            // No process has the number that stands for none.
            unsafe frame.number = number == .max ? 0 : number
        }
        // The largest answer is a header and a number.
        let capacity = headerBytes + MemoryLayout<UInt32>.size
        return unsafe [UInt8](unsafeUninitializedCapacity: capacity) { out, written in
            // Safe: writes no more than the capacity it is told. An answer always fits.
            let status = unsafe kc_login_frame_encode(&frame, out.baseAddress!, capacity, &written)
            precondition(status == KC_LOGIN_OK)
        }
    }

    private static func request(
        _ frame: kc_login_frame
    ) throws(LoginHandoffError) -> LoginRequest {
        // Safe: the decoder set each field it found and left the others zero; views point into the
        // borrowed frame.
        let user = unsafe frame.uid
        let account = try unsafe text(frame.account)
        switch unsafe frame.verb {
        case KC_LOGIN_OPEN_SESSION:
            let facts = try unsafe facts(frame, account: account)
            let password = unsafe frame.has_password ? secret(frame.password) : nil
            return .openSession(facts, password: password)
        case KC_LOGIN_CLOSE_SESSION:
            return unsafe .closeSession(ticket: frame.ticket, user: user)
        case KC_LOGIN_OFFER_PASSWORD:
            return unsafe .offerPassword(user: user, account: account, secret(frame.password))
        case KC_LOGIN_CHANGE_PASSWORD:
            return unsafe .changePassword(
                user: user, account: account, old: secret(frame.password),
                new: secret(frame.new_password))
        case KC_LOGIN_RESET_PASSWORD:
            return .resetPassword(user: user, account: account)
        case KC_LOGIN_NUMBER:
            return .number(user: user)
        default:
            // Replies are never sent to a daemon.
            throw .malformed
        }
    }

    private static func facts(
        _ frame: kc_login_frame, account: String
    ) throws(LoginHandoffError) -> SessionFacts {
        // Safe: as above: numbers are copied, and `text` copies what a view shows.
        let audit = unsafe frame.audit_session
        let session = try unsafe text(frame.logind_session)
        return try unsafe SessionFacts(
            user: frame.uid, account: account, ticket: frame.ticket, leader: frame.leader,
            auditSession: audit == UInt32.max ? nil : audit, service: text(frame.service),
            logindSession: session.isEmpty ? nil : session,
            isRemote: frame.is_remote, isSilent: frame.is_silent,
            isAuthenticated: frame.is_authenticated)
    }

    private static func text(_ view: kc_login_view) throws(LoginHandoffError) -> String {
        // Safe: the decoder checked that the view lies within the frame, which is still borrowed.
        let bytes = unsafe UnsafeBufferPointer(start: view.bytes, count: view.count)
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else { throw .malformed }
        return text
    }

    private static func secret(_ view: kc_login_view) -> HeldSecret {
        // Safe: as above.
        let bytes = unsafe UnsafeRawBufferPointer(start: view.bytes, count: view.count)
        return HeldSecret(SecretBytes(copying: unsafe bytes.bytes))
    }

    private static func check(_ status: kc_login_status) throws(LoginHandoffError) {
        switch status {
        case KC_LOGIN_OK: return
        case KC_LOGIN_TRUNCATED: throw .closed
        case KC_LOGIN_FOREIGN: throw .foreign
        case KC_LOGIN_OLDER: throw .older
        case KC_LOGIN_NEWER: throw .newer
        case KC_LOGIN_TOO_LONG: throw .tooLong
        default: throw .malformed
        }
    }
}
