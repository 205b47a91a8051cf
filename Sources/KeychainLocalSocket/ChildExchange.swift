// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Glibc
package import KeychainSecrets

/// A child process that gets one secret, returns one, and ends.
package struct ChildExchange: Sendable {
    /// nil when the child was ended at the deadline, or by a signal.
    package let code: Int32?
    /// The returned secret; nil where the child returned none.
    package let answer: HeldSecret?

    /// The descriptor of the child's end of the channel.
    package static let descriptor: Int32 = 3

    /// Runs the program without a terminal and without an environment. `question` has at most
    /// `ConversationChannel.longestAnswer` bytes, and so has the answer.
    package init(
        with executable: String, _ arguments: [String], question: HeldSecret,
        deadlineSeconds: Double
    ) throws(SocketError) {
        let (ours, child) = try Self.start(executable, arguments, question)
        let message: ConversationMessage?
        do { message = try ours.receive(deadlineSeconds: deadlineSeconds) } catch {
            // The child has ended without an answer, or its time is over.
            guard error == .closed || error == .timedOut else { throw error }
            message = nil
        }
        answer = if case .answer(let secret) = message { secret } else { nil }
        code = child.wait(deadlineSeconds: 1)?.code
    }

    /// Starts the child. Afterwards the child alone holds its end, so that the parent's end notices
    /// when the child ends.
    private static func start(
        _ executable: String, _ arguments: [String], _ question: HeldSecret
    ) throws(SocketError) -> (ConversationChannel, ChildProcess) {
        let (ours, theirs) = try ConversationChannel.pair()
        try ours.send(.answer(question))
        defer { withExtendedLifetime(theirs) {} }
        do {
            let child = try ChildProcess(
                executable: executable, arguments: arguments, environment: [],
                passing: [(source: theirs.descriptor.number, target: descriptor)],
                newSession: true)
            return (ours, child)
        } catch { throw SocketError(error) }
    }
}

// MARK: The child's part

/// Why a child returns no secret: the code that it exits with.
package struct ChildFailure: Error {
    /// The child could not begin; no program uses this code otherwise.
    static let notBegun = ChildFailure(code: 125)

    package let code: Int32

    package init(code: Int32) { self.code = code }
}

extension ChildExchange {
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
