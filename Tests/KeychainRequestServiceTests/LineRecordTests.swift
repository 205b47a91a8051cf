// SPDX-License-Identifier: Apache-2.0
import AuditHandoff
import KeychainLocalSocket
import Testing

@Suite struct LineRecordTests {
    private static let start = Array("KCAL".utf8) + [2, 0]

    @Test func `a record that says "serve" has a user and no text`() {
        #expect(
            LineRecord.serve(1000)
                == Self.start + [2, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0])
    }

    @Test func `no other record looks like it`() throws {
        let records = try #require(
            LineRecord.records(of: [UInt8](repeating: 0x61, count: 9000), user: 1000))
        #expect(records.map { Array($0[6..<8]) } == [[1, 0], [1, 0], [0, 0]])
        #expect(LineRecord.records(of: [], user: 1000) == nil)
    }

    @Test func `a reply of another version is none`() throws {
        #expect(try LineRecord.reply(in: Self.start + [1, 0]) == .written)
        #expect(throws: SocketError.malformed) {
            _ = try LineRecord.reply(in: Array("KCAL".utf8) + [1, 0, 1, 0])
        }
    }
}
