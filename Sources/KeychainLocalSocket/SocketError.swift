// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// Errors between two processes of one machine.
package enum SocketError: Error, Equatable, Sendable {
    case closed
    case timedOut
    case tooLarge
    /// The receiver has no memory for the frame now.
    case noRoom
    case malformed
    /// The peer uses an older, or a newer, version of the frames than this reader.
    case older
    case newer
    /// A process other than the one that connected has spoken.
    case foreignSender
    case peerNotAllowed
    case pathTooLong
    case addressInUse
    /// An `errno`.
    case system(Int32)
}

extension SocketError {
    /// nil where the reader understands the peer's version. Versions begin with 1.
    init?(peerOf version: Int, readerOf known: Int) {
        if version == known { return nil }
        self = version < 1 ? .malformed : version < known ? .older : .newer
    }

    package init(_ error: SystemError) {
        self =
            switch error {
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .malformed: .malformed
            case .notPrivate: .peerNotAllowed
            case .system(let code): .system(code)
            }
    }
}
