// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem

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

    init(_ error: SystemError) {
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

extension Descriptor {
    /// As `Wait.until`.
    func wait(
        for events: Int32, until deadline: ContinuousClock.Instant?
    ) throws(SocketError) {
        do { try Wait.until(events, number, deadline: deadline) } catch { throw SocketError(error) }
    }

    /// How long a call that receives waits from now on; nil is for ever.
    func receive(within patience: Duration?) throws(SocketError) {
        let parts = patience?.components ?? (seconds: 0, attoseconds: 0)
        var limit = timeval(
            tv_sec: Int(parts.seconds), tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
        // Nothing at all would be for ever.
        if patience != nil, limit.tv_sec == 0 { limit.tv_usec = max(limit.tv_usec, 1) }
        // Safe: reads one timeval.
        let result = unsafe setsockopt(
            number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard result == 0 else { throw .system(errno) }
    }
}
