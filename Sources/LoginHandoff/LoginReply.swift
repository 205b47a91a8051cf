// SPDX-License-Identifier: Apache-2.0

/// The daemon's answer, which a login waits for: so it comes before any key is derived.
public enum LoginReply: Sendable, Equatable {
    case accepted
    case refused(LoginRefusal)
}

/// Why not. The module logs it and lets the login go on.
public enum LoginRefusal: UInt16, Sendable, CaseIterable {
    case wrongPassword = 1
    case noSuchUser = 2
    case busy = 3
    case internalError = 4
    case notAllowed = 5
    case badRequest = 6
    case noSession = 7
}
