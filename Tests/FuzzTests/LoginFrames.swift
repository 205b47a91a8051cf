// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets

@testable import LoginHandoff

/// What PAM's module says on a socket until it closes its end.
enum LoginFrames {
    private static let longestText = 255
    private static let longestPassword = 1023

    static func read(_ bytes: [UInt8]) throws -> Bool {
        let connection = try LoginConnection(try Frames.socket(saying: bytes, named: false))
        let arrived = try? connection.receive()
        let whole = try? LoginMessage.request(in: SecretBytes(copying: bytes))
        if let whole { try check(whole) }
        guard let arrived else {
            try require(whole == nil, "a whole frame does not arrive")
            return false
        }
        try check(arrived)
        return true
    }

    private static func check(_ request: LoginRequest) throws {
        switch request {
        case .openSession(let facts, let password):
            for text in [facts.account, facts.service, facts.logindSession ?? ""] {
                try check(text)
            }
            if let password { try check(password) }
        case .closeSession, .number: break
        case .offerPassword(_, let account, let password):
            try check(account)
            try check(password)
        case .changePassword(_, let account, let old, let new):
            try check(account)
            try check(old)
            try check(new)
        case .resetPassword(_, let account): try check(account)
        }
    }

    private static func check(_ text: String) throws {
        try require(text.utf8.count <= longestText, "a text is longer than its limit")
        try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character")
    }

    private static func check(_ secret: HeldSecret) throws {
        try require(secret.bytes.count <= longestPassword, "a password is longer than its limit")
    }
}
