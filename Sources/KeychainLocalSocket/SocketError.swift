// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// What can go wrong between two processes of one machine.
package enum SocketError: Error, Equatable, Sendable {
    case closed
    case timedOut
    case tooLarge
    /// The receiver has no memory for it now.
    case noRoom
    case malformed
    /// The peer speaks a version of the frames before, or after, the one that is read here.
    case older
    case newer
    /// Another process than the one that connected has spoken.
    case foreignSender
    case peerNotAllowed
    case pathTooLong
    case addressInUse
    /// An `errno`.
    case system(Int32)
}

extension SocketError {
    /// nil where a peer of that version is understood. The first version of anything is 1.
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
