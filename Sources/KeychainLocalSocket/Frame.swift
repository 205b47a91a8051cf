// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// One message and, beside it, the secrets it refers to, which are never inside it.
package struct Frame: Sendable {
    package var message: [UInt8]
    package var secrets: HeldSecret?

    package init(message: [UInt8], secrets: HeldSecret?) {
        self.message = message
        self.secrets = secrets
    }
}

/// Bytes that one frame may have, or has.
package struct FrameLimits: Sendable {
    package var message: Int
    package var secrets: Int

    package init(message: Int, secrets: Int) {
        self.message = message
        self.secrets = secrets
    }

    package static let request = FrameLimits(
        message: 1024 * 1024, secrets: 32 * 1024 * 1024 + 64 * 1024)
    package static let shortRequest = FrameLimits(message: 64 * 1024, secrets: 4096)
    package static let answer = FrameLimits(
        message: 16 * 1024 * 1024, secrets: 64 * 1024 * 1024 + 64 * 1024)
    package static let prompterReply = FrameLimits(message: 256, secrets: 1024)
}
