// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
@testable import KeychainRequestAudit
import SystemTestSupport
import Testing

/// Where each record of the audit goes beside its file.
@Suite struct AuditSinkTests {
    private final class Copies: AuditSink {
        let records = Box<[AuditRecord]>([])
        let isFinished = Box(false)
        func append(_ record: AuditRecord) { records.change { $0.append(record) } }
        func finish() { isFinished.change { $0 = true } }
    }

    private static func subject(_ user: UInt32) -> AuditLog.Subject {
        AuditLog.Subject(user: user, process: 7, program: "exe:/usr/bin/git", session: nil)
    }

    @Test func `the other place gets what the file gets, and hears of the end`() throws {
        let folder = try ScratchFolder()
        let copies = Copies()
        let log = AuditLog(folder: folder.path, journal: copies)
        log.record(.unlock, by: Self.subject(1), nil)
        // Counted, and written with others of its kind.
        for _ in 0..<3 { log.record(.copyMatching, by: Self.subject(1), nil) }
        #expect(copies.records.value.map(\.operation) == ["unlock"])
        log.finish()
        #expect(copies.isFinished.value)
        let written = try String(contentsOfFile: folder("audit.jsonl"), encoding: .utf8)
        let lines = copies.records.value.map { String(decoding: $0.line, as: UTF8.self) }
        #expect(lines.count == 2 && lines.joined() == written)
    }

    @Test func `a record tells how many before it were lost`() throws {
        let folder = try ScratchFolder()
        let (store, copies) = (WrittenLines(folder: folder.path), Copies())
        let log = AuditLog(store, journal: copies)
        store.lost.change { $0 = 7 }
        log.record(.unlock, by: Self.subject(1), nil)
        log.record(.lock, by: Self.subject(1), nil)
        #expect(copies.records.value.map(\.lost) == [7, nil])
        let lines = copies.records.value.map { String(decoding: $0.line, as: UTF8.self) }
        #expect(lines[0].contains(#""lost":7,"#) && !lines[1].contains("lost"))
    }
}
