// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The cores that a thread may run on (sched_setaffinity(2)).
package struct CoreSet: Sendable, Equatable {
    /// A bit for each of the 8,192 cores that a kernel can have.
    private var words = [UInt64](repeating: 0, count: 128)

    /// Those of the calling thread; nil where the kernel does not tell.
    package static var ofThread: CoreSet? { CoreSet(ofProcess: 0) }

    /// Those that this process was given.
    package static var ofProcess: CoreSet? { CoreSet(ofProcess: getpid()) }

    package init(_ core: Int) { words[core / 64] = 1 << (core % 64) }

    /// Those of a process's first thread; nil where the kernel does not tell.
    package init?(ofProcess process: Int32) {
        // Safe: the kernel writes at most the array's length.
        let result = unsafe words.withUnsafeMutableBufferPointer {
            unsafe kc_cores(process, $0.baseAddress, $0.count)
        }
        guard result == 0 else { return nil }
    }

    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    package func contains(_ core: Int) -> Bool {
        words.indices.contains(core / 64) && words[core / 64] >> (core % 64) & 1 == 1
    }

    /// Has the calling thread run on these alone. Returns false where the kernel refuses it.
    @discardableResult
    package func keepThread() -> Bool {
        // Safe: the kernel reads the array.
        unsafe words.withUnsafeBufferPointer { unsafe kc_run_on($0.baseAddress, $0.count) == 0 }
    }

    /// Runs `body`, which starts a thread or has a queue start one: a thread inherits the cores of the one
    /// that starts it, and is to have all of its process.
    package static func withAll<R>(_ body: () -> R) -> R {
        let (own, all) = (ofThread, ofProcess)
        guard let own, let all, own != all else { return body() }
        all.keepThread()
        defer { own.keepThread() }
        return body()
    }
}
