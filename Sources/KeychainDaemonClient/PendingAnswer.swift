// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainLocalSocket

/// The answer to a request that was sent, for a thread with other work in the meantime. It is taken
/// once.
package struct PendingAnswer<V: Verb>: Sendable {
    private let connection: ClientConnection
    private let taken: @Sendable () throws(RequestError) -> V.Answer

    init(
        on connection: ClientConnection,
        _ taken: @escaping @Sendable () throws(RequestError) -> V.Answer
    ) {
        self.connection = connection
        self.taken = taken
    }

    /// Readable once the answer begins to arrive.
    package var descriptor: Int32 { connection.number }

    /// Whether `take` waits for nothing. Called once the descriptor is readable, as a long answer
    /// arrives piece by piece.
    package func isWhole() -> Bool {
        // `take` reports errors of the connection.
        (try? connection.readAhead()) ?? true
    }

    /// Throws `.failed(.notAvailable)` where the daemon has gone; it may have done the request.
    package func take() throws(RequestError) -> V.Answer { try taken() }
}
