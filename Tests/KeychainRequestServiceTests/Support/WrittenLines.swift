// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainRequestAudit
import SystemTestSupport

/// The audit's lines of all users in one file, which is written to at once.
final class WrittenLines: AuditStore {
    private let path: String
    /// Records of any user that are told as lost with the next one.
    let lost = Box(0)
    private let lock = NSLock()

    init(folder: String) { path = folder + "/audit.jsonl" }

    func append(_ line: [UInt8], of user: UInt32, records: Int) {
        lock.withLock {
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil)
            }
            guard let file = FileHandle(forWritingAtPath: path) else { return }
            defer { try? file.close() }
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: line)
        }
    }

    func takeLost(of user: UInt32) -> Int {
        defer { lost.change { $0 = 0 } }
        return lost.value
    }

    func finish() {}
}

extension AuditLog {
    convenience init(folder: String, journal: (any AuditSink)? = nil) {
        self.init(WrittenLines(folder: folder), journal: journal)
    }
}
