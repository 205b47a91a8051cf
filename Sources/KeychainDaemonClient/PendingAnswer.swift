// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainLocalSocket

/// The answer to a request that was sent, for a thread that has other work until it comes. It is taken
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

    /// Readable once the answer begins to come.
    package var descriptor: Int32 { connection.number }

    /// Asked once the descriptor is readable: whether `take` waits for nothing. A long answer comes
    /// bit by bit.
    package func isWhole() -> Bool {
        // What is wrong with the connection `take` tells.
        (try? connection.readAhead()) ?? true
    }

    /// Refused (`.failed(.notAvailable)`) where the daemon went away; it may have done the request.
    package func take() throws(RequestError) -> V.Answer { try taken() }
}
