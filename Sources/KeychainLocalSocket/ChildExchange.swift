// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Glibc
package import KeychainSecrets

/// A child that is given one secret, gives one back, and ends.
package struct ChildExchange: Sendable {
    /// nil when it was ended at the deadline, or by a signal.
    package let code: Int32?
    /// What it gave back; nil where it had nothing to give.
    package let answer: HeldSecret?

    /// The descriptor that the child speaks on.
    package static let descriptor: Int32 = 3

    /// Runs the program with no terminal and no environment. `question` has at most
    /// `ConversationChannel.longestAnswer` bytes, and so has the answer.
    package init(
        with executable: String, _ arguments: [String], question: HeldSecret,
        deadlineSeconds: Double
    ) throws(SocketError) {
        let (ours, child) = try Self.start(executable, arguments, question)
        let message: ConversationMessage?
        do { message = try ours.receive(deadlineSeconds: deadlineSeconds) } catch {
            // It ended without an answer, or its time is up.
            guard error == .closed || error == .timedOut else { throw error }
            message = nil
        }
        answer = if case .answer(let secret) = message { secret } else { nil }
        code = child.wait(deadlineSeconds: 1)?.code
    }

    /// Afterwards the child alone has its end: when it ends, ours hears of it.
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

/// Why a child gives nothing back: the code that it ends with.
package struct ChildFailure: Error {
    /// Where it could not even begin; no word of any program's.
    static let notBegun = ChildFailure(code: 125)

    package let code: Int32

    package init(code: Int32) { self.code = code }
}

extension ChildExchange {
    /// The process that started it has asked already.
    private static let questionSeconds = 5.0

    /// Hardened, without an environment, and ended after so many seconds at the latest: one
    /// question, its answer, and the end.
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
