// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainRequestAudit

@Suite final class AuditFileTests {
    private static let longest = 4000
    private let path =
        FileManager.default.temporaryDirectory.path + "/audit-" + UUID().uuidString

    deinit {
        for ending in ["", ".1", ".new"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
    }

    private static func line(_ user: UInt32, _ text: String, _ time: Int = 0) -> [UInt8] {
        Array(#"{"program":"\#(text)","time":"\#(time)","user":\#(user)}\#n"#.utf8)
    }

    private func lines(_ ending: String) -> [String] {
        let text = (try? String(contentsOfFile: path + ending, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `a user who writes without end pushes out no other user's lines`() {
        var file = AuditFile(path, longest: Self.longest)
        file.append(Self.line(0, "root"))
        file.append(Self.line(1, "first"))
        for time in 0..<5000 { file.append(Self.line(2, "flood", time)) }
        file.append(Self.line(1, "last"))
        let all = lines(".1") + lines("")
        #expect(all.first?.contains("root") == true)
        #expect(all[1].contains("first"))
        #expect(all.last?.contains("last") == true)
        // The newest, in their order, and no more than there is room for.
        let floods = all.filter { $0.contains("flood") }
        #expect(floods.last?.contains("4999") == true)
        #expect(floods == floods.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count })
        #expect(lines(".1").joined(separator: "\n").utf8.count < Self.longest)
    }

    @Test func `those who have little keep it, the others share what is left`() {
        let many = (0..<100).map { Self.line(2, "many", $0) }.reduce([], +)
        let more = (0..<400).map { Self.line(3, "more", $0) }.reduce([], +)
        let kept = AuditShares(lines: Self.line(1, "one") + more + many).kept(within: 5000)
        let text = String(decoding: kept, as: UTF8.self)
        #expect(text.contains("one"))
        let counts = ["many", "more"].map { text.components(separatedBy: $0).count - 1 }
        #expect(abs(counts[0] - counts[1]) <= 2)
        #expect(kept.count <= 5000)
    }

    @Test func `a text in a record does not make it another user's`() {
        let forged = Self.line(2, #"\",\"user\":1,\"x\":\""#)
        let flood = (0..<100).map { _ in forged }.reduce([], +)
        let kept = AuditShares(lines: Self.line(1, "one") + flood).kept(within: 500)
        #expect(String(decoding: kept, as: UTF8.self).contains("one"))
    }

    @Test func `where all fit in all are kept`() {
        let lines = [Self.line(1, "a"), Self.line(2, "b"), Self.line(1, "c")].reduce([], +)
        #expect(AuditShares(lines: lines).kept(within: lines.count) == [UInt8](lines))
    }
}
