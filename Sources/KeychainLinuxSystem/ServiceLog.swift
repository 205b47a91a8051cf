// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The lines that a service writes for its administrator, on standard output.
///
/// The journal knows the time and the program, and takes the urgency from the front of each line
/// (sd-daemon(3)). For any other reader a line begins with the time, in UTC, and the program's name.
package struct ServiceLog: Sendable {
    package enum Urgency: Int, Sendable {
        case error = 3
        case information = 6
    }

    private let program: String
    private let isJournal: Bool

    package init(of program: String) {
        self.program = program
        isJournal = Self.outputIsJournal()
    }

    package func write(_ text: String, _ urgency: Urgency = .information) {
        guard isJournal else { return Self.write("\(Self.timestamp()) \(program): \(text)\n") }
        // The journal makes a message of its own of each line.
        for line in text.split(separator: "\n") { Self.write("<\(urgency.rawValue)>\(line)\n") }
    }

    /// A log that takes no more ends no service.
    private static func write(_ line: String) {
        let bytes = Array(line.utf8)
        // Safe: writes the borrowed bytes.
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
        }
    }

    /// The service manager names the journal's stream, which output may no longer lead to.
    private static func outputIsJournal() -> Bool {
        var status = stat()
        // Safe: the structure is this function's own.
        guard let stream = ProcessEnvironment["JOURNAL_STREAM"],
            unsafe fstat(STDOUT_FILENO, &status) == 0
        else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    private static func timestamp() -> String {
        var now = Glibc.time(nil)
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 32)
        // Safe: the structures and the array, of a known size, are this function's own.
        _ = unsafe gmtime_r(&now, &parts)
        let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
