// SPDX-License-Identifier: Apache-2.0
public import Secrets

/// One message and, beside it, the secrets it refers to, which are never inside it.
public struct Frame: Sendable {
    public var message: [UInt8]
    public var secrets: HeldSecret?

    public init(message: [UInt8], secrets: HeldSecret?) {
        self.message = message
        self.secrets = secrets
    }
}

/// Bytes that one frame may have, or has.
public struct FrameLimits: Sendable {
    public var message: Int
    public var secrets: Int

    public init(message: Int, secrets: Int) {
        self.message = message
        self.secrets = secrets
    }

    public static let request = FrameLimits(
        message: 1024 * 1024, secrets: 32 * 1024 * 1024 + 64 * 1024)
    public static let shortRequest = FrameLimits(message: 64 * 1024, secrets: 4096)
    public static let answer = FrameLimits(
        message: 16 * 1024 * 1024, secrets: 64 * 1024 * 1024 + 64 * 1024)
    public static let prompterReply = FrameLimits(message: 256, secrets: 1024)
}
