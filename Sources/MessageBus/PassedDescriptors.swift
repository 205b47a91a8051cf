// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import Synchronization

/// Descriptors that programs have passed and that are not closed yet.
///
/// To close one asks the file system of its file, which may be a program that never answers, and a
/// socket may linger. So a thread of its own does that for each, which counts until it is done.
final class PassedDescriptors: Sendable {
    private static let stackBytes = 64 * 1024

    private let most: Int
    private let open = Mutex(0)

    init(atMost most: Int) { self.most = most }

    /// False where no more may come before others are closed.
    func makeRoom() -> Bool {
        open.withLock { open in
            guard open < most else { return false }
            open += 1
            return true
        }
    }

    /// For the room of one that did not come.
    func leave() { open.withLock { $0 -= 1 } }

    /// Has a thread do work that ends with the room of one, for which there is room. False where the
    /// machine has no thread: the room is lost then.
    func letGo(_ work: @escaping @Sendable () -> Void) -> Bool {
        DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
            work()
            leave()
        }
    }

    /// The descriptor, for which there is room.
    func hold(_ number: Int32) -> Descriptor {
        Descriptor(owning: number) { [self] number in
            // Where there is no thread for it, it stays open.
            _ = letGo { _ = Glibc.close(number) }
        }
    }
}
