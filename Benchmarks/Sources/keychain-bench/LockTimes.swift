// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// How soon a lock is one for programs that read all the while, each in a process of its own.
enum LockTimes {
    /// After which a reader gives up.
    private static let mostSeconds = 30.0

    static func measure(readers count: Int) throws {
        let readers = try (0..<count).map { _ in try Reader() }
        Thread.sleep(forTimeInterval: 1)
        let began = MonotonicTime.now
        try check(SecKeychainLock(nil))
        let answered = MonotonicTime.now
        let last = readers.map { $0.lastRead() }.max() ?? 0
        print(
            #"{"name": "lock", "readers": \#(count), "answered_ms": "#
                + #"\#(milliseconds(began, answered)), "last_read_ms": \#(milliseconds(began, last))}"#
        )
    }

    private static func milliseconds(_ start: UInt64, _ end: UInt64) -> Double {
        end < start ? 0 : Double(end - start) / 1e6
    }

    /// Reads one item after the other until the keychain is locked, and prints when the last was
    /// there.
    static func readUntilLocked() throws {
        var last: UInt64 = 0
        let end = MonotonicTime.now + UInt64(mostSeconds * 1e9)
        for index in 0... {
            do { try ItemTimes.read(item: index, of: 100) } catch {
                guard (error as? Status)?.code == errSecInteractionNotAllowed else { throw error }
                break
            }
            last = MonotonicTime.now
            guard last < end else { throw Status(code: errSecInternalError) }
        }
        print(last)
    }

    private struct Reader {
        private let process = Process()
        private let output = Pipe()

        init() throws {
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["read-until-locked"]
            process.standardOutput = output
            try process.run()
        }

        func lastRead() -> UInt64 {
            let said = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return UInt64(
                String(decoding: said, as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines))
                ?? .max
        }
    }
}
