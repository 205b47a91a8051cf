// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension Descriptor {
    private static let pauseMilliseconds: UInt32 = 5

    /// The folder at the path, where it is one and no link.
    package static func ofFolder(_ path: String) throws(SystemError) -> Descriptor {
        // Safe: reads the path; the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .system(errno) }
        return Descriptor(owning: number)
    }

    /// Locks the file or folder until the descriptor is closed. Other processes that lock it wait
    /// meanwhile; `timedOut` is thrown where that takes too long.
    package func lock(patience: Duration) throws(SystemError) {
        let deadline = ContinuousClock.now + patience
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system(errno) }
            guard ContinuousClock.now < deadline else { throw .timedOut }
            Wait.pause(milliseconds: Self.pauseMilliseconds)
        }
    }

    /// Opens or makes the file, and locks it until the descriptor is closed. Other threads and
    /// processes that lock it wait meanwhile; `timedOut` is thrown where that takes too long.
    package static func locking(
        _ path: String, patience: Duration
    ) throws(SystemError) -> Descriptor {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(errno) }
        let file = Descriptor(owning: number)
        try file.lock(patience: patience)
        return file
    }
}
