// SPDX-License-Identifier: Apache-2.0
internal import CAuditRecord
package import KeychainLocalSocket

/// The records that `keychain-audit` takes and its replies, coded by the C code that it uses.
package enum LineRecord {
    package enum Reply: Equatable, Sendable {
        /// The line is in its user's file.
        case written
        /// It could not be written.
        case noRoom
        /// `keychain-audit` does not understand it.
        case refused
    }

    package static let longestReply = Int(KC_AUDIT_REPLY_SIZE)
    package static let longestLine = Int(KC_AUDIT_LINE_MAX)

    /// The records that make up the line, which has no line end; nil for a line that
    /// `keychain-audit` would not take.
    package static func records(of line: some Collection<UInt8>, user: UInt32) -> [[UInt8]]? {
        guard !line.isEmpty, line.count <= longestLine, line.allSatisfy({ $0 >= 0x20 }) else {
            return nil
        }
        var records: [[UInt8]] = []
        var rest = line[...]
        while !rest.isEmpty {
            let text = rest.prefix(Int(KC_AUDIT_TEXT_MAX))
            rest = rest.dropFirst(text.count)
            var head = [UInt8](repeating: 0, count: Int(KC_AUDIT_HEAD_SIZE))
            // Safe: the array has the size of a head.
            guard unsafe kc_audit_head_encode(user, !rest.isEmpty, text.count, &head) else {
                return nil
            }
            records.append(head + text)
        }
        return records
    }

    /// What keychaind says with a socket: that lines of the user come on it. `keychain-audit` refuses
    /// it for a number of no user's.
    package static func serve(_ user: UInt32) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: Int(KC_AUDIT_HEAD_SIZE))
        // Safe: the array has the size of a head.
        _ = unsafe kc_audit_serve_encode(user, &head)
        return head
    }

    /// Throws `.peerNotAllowed` where `keychain-audit` takes this process for another program.
    package static func reply(in bytes: [UInt8]) throws(SocketError) -> Reply {
        var word = KC_AUDIT_WRITTEN
        // Safe: reads the array, and writes the word.
        guard unsafe kc_audit_reply_decode(bytes, bytes.count, &word) == KC_AUDIT_OK else {
            throw .malformed
        }
        switch word {
        case KC_AUDIT_WRITTEN: return .written
        case KC_AUDIT_NO_ROOM: return .noRoom
        case KC_AUDIT_NOT_ALLOWED: throw .peerNotAllowed
        default: return .refused
        }
    }
}
