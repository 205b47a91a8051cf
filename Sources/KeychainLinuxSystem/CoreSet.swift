// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The cores that a thread may run on (sched_setaffinity(2)).
package struct CoreSet: Sendable, Equatable {
    /// A bit for each of the 8,192 cores that a kernel can have.
    private var words = [UInt64](repeating: 0, count: 128)

    /// Those of the calling thread; nil where the kernel does not tell.
    package static var ofThread: CoreSet? { CoreSet(ofThread: 0) }

    /// Those that this process was given: its first thread has them.
    package static var ofProcess: CoreSet? { CoreSet(ofThread: getpid()) }

    package init(_ core: Int) { words[core / 64] = 1 << (core % 64) }

    private init?(ofThread thread: Int32) {
        // Safe: the kernel writes at most the array's length.
        let result = unsafe words.withUnsafeMutableBufferPointer {
            unsafe kc_cores(thread, $0.baseAddress, $0.count)
        }
        guard result == 0 else { return nil }
    }

    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    package func contains(_ core: Int) -> Bool {
        words.indices.contains(core / 64) && words[core / 64] >> (core % 64) & 1 == 1
    }

    /// Has the calling thread, and threads that it starts, run on these alone. Returns false where the
    /// kernel refuses it.
    @discardableResult
    package func keepThread() -> Bool {
        // Safe: the kernel reads the array.
        unsafe words.withUnsafeBufferPointer { unsafe kc_run_on($0.baseAddress, $0.count) == 0 }
    }

    /// Gives the calling thread the cores of its process, whichever the thread that started it was kept on.
    package static func useAll() { _ = ofProcess?.keepThread() }
}
