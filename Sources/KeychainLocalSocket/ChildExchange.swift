// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Glibc
package import KeychainSecrets

/// Why a child returns no secret: the code that it exits with.
package struct ChildFailure: Error {
    /// The child could not begin; no program uses this code otherwise.
    static let notBegun = ChildFailure(code: 125)

    package let code: Int32

    package init(code: Int32) { self.code = code }
}

/// A child's part of an exchange: it gets one secret, returns one, and ends.
package enum ChildExchange {
    /// The descriptor of the child's end of the channel.
    private static let descriptor: Int32 = 3
    /// The parent has sent the question before the child starts.
    private static let questionSeconds = 5.0

    /// Answers one question and ends: hardened, without an environment, and ended after
    /// `longestLife` seconds at the latest.
    package static func answer(
        within longestLife: UInt32, _ answer: (HeldSecret) throws(ChildFailure) -> HeldSecret
    ) -> Never {
        clearenv()
        alarm(longestLife)
        do throws(ChildFailure) {
            do { try ProcessHardening.apply() } catch { throw .notBegun }
            let channel = ConversationChannel(Descriptor(owning: descriptor))
            let message = try beginning { () throws(SocketError) in
                try channel.receive(deadlineSeconds: questionSeconds)
            }
            guard case .answer(let question) = message else { throw .notBegun }
            let reply = try answer(question)
            try beginning { () throws(SocketError) in try channel.send(.answer(reply)) }
            exit(0)
        } catch { exit(error.code) }
    }

    private static func beginning<R>(
        _ body: () throws(SocketError) -> R
    ) throws(ChildFailure) -> R {
        do { return try body() } catch { throw .notBegun }
    }
}
