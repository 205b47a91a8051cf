// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite
internal import Dispatch
internal import Glibc

/// How long a call waits: a connection for another process that has locked the file, and a thread
/// for other threads of its process.
///
/// SQLite's own pauses grow to a tenth of a second: the process that has waited longest would come
/// last, or never, while newcomers retry after a millisecond. So pauses stay short, and random, so
/// that two waiting processes fall out of step.
package struct BusyTimeout: Sendable {
    private static let pauseMicroseconds: Double = 3000
    private let seconds: Double
    private let mostTries: Int32

    package init(seconds: Double) {
        self.seconds = seconds
        mostTries = Int32(clamping: Int64(seconds * 1e6 / Self.pauseMicroseconds))
    }

    /// The end of a wait that begins now.
    var end: DispatchTime { .now() + seconds }

    func apply(to connection: OpaquePointer) {
        // Safe: the context is a number, which is never followed as an address.
        let most = unsafe UnsafeMutableRawPointer(bitPattern: Int(mostTries) + 1)
        unsafe sqlite3_busy_handler(
            connection,
            { context, tries in
                let most = Int(bitPattern: context) - 1
                guard Int(tries) < most else { return 0 }
                usleep(UInt32(BusyTimeout.pauseMicroseconds * .random(in: 0.5...1.5)))
                return 1
            }, most)
    }
}
