// SPDX-License-Identifier: Apache-2.0
import Glibc
@testable import AuditStores
import KeychainLinuxSystem
import KeychainLocalSocket
import SystemTestSupport
import Testing

/// keychaind's side of keychain-audit's socket, with the test at the other end. The peer must be
/// root's.
@Suite(.enabled(if: geteuid() == 0)) final class AuditFilesTests {
    private let folder: ScratchFolder
    private let listener: Listener
    private let files: AuditFiles
    private let said = Box<[String]>([])

    init() throws {
        folder = try ScratchFolder()
        listener = try Listener(recordsAt: folder("audit.sock"), mode: 0o600)
        let path = folder("audit.sock")
        files = AuditFiles({ () throws(SocketError) in try RecordConnection(path: path) }) {
            [said] word in said.change { $0.append(word) }
        }
    }

    deinit {
        files.finish()
        listener.shutDown()
    }

    private func append(_ text: String, _ user: UInt32 = 1) {
        files.append(Array("\(text)\n".utf8), of: user, records: 1)
    }

    /// The next record's head and text.
    private func record(_ peer: Descriptor) throws -> (head: [UInt8], text: String) {
        try Wait.until(Wait.input, peer.number, deadline: .now + .seconds(20))
        var bytes = [UInt8](repeating: 0, count: 5000)
        // Safe: receives at most the array's length.
        let count = unsafe recv(peer.number, &bytes, bytes.count, 0)
        try #require(count > 16)
        return (Array(bytes[..<16]), String(decoding: bytes[16..<count], as: UTF8.self))
    }

    private func reply(_ word: UInt8, to peer: Descriptor) {
        let bytes = Array("KCAL".utf8) + [2, 0, word, 0]
        // Safe: sends the array.
        #expect(unsafe send(peer.number, bytes, bytes.count, 0) == bytes.count)
    }

    private func wait(until condition: () -> Bool) {
        for _ in 0..<2000 where !condition() { Wait.pause(milliseconds: 10) }
        #expect(condition())
    }

    @Test func `a line goes out with its user and its length, without its end`() throws {
        append(#"{"a":1}"#, 1000)
        let (head, text) = try record(try listener.accept())
        #expect(text == #"{"a":1}"#)
        #expect(head == Array("KCAL".utf8) + [2, 0, 0, 0, 0xe8, 3, 0, 0, 7, 0, 0, 0])
    }

    @Test func `a long line goes out in several records`() throws {
        let line = String(repeating: "a", count: 4096) + String(repeating: "b", count: 4096) + "c"
        append(line)
        let peer = try listener.accept()
        let records = try (0..<3).map { _ in try record(peer) }
        #expect(records.map(\.head[6]) == [1, 1, 0])
        #expect(records.map(\.text).joined() == line)
    }

    @Test func `lines without a reply are sent once more, and no others`() throws {
        for text in ["first", "second", "third"] { append(text) }
        var peer: Descriptor? = try listener.accept()
        for text in ["first", "second", "third"] {
            #expect(try record(try #require(peer)).text == text)
        }
        reply(1, to: try #require(peer))
        peer = nil
        peer = try listener.accept()
        for text in ["second", "third"] { #expect(try record(try #require(peer)).text == text) }
        #expect(files.takeLost(of: 1) == 0)
    }

    @Test func `a line that could not be written counts as lost, with those it tells of`() throws {
        files.append(Array("line\n".utf8), of: 1, records: 3)
        append("other", 2)
        let peer = try listener.accept()
        for word: UInt8 in [2, 1] {
            _ = try record(peer)
            reply(word, to: peer)
        }
        var lost = 0
        wait {
            lost += files.takeLost(of: 1)
            return lost == 3
        }
        #expect(files.takeLost(of: 1) == 0 && files.takeLost(of: 2) == 0)
        #expect(said.value.count == 1 && said.value[0].contains("the disk is full"))
    }

    /// No call waits, or this test would not end.
    @Test func `where none answers one user's lines leave room for another's`() throws {
        let text = String(repeating: "a", count: 4000)
        for _ in 0..<1000 { append(text, 1) }
        append("other", 2)
        let fitting = AuditFiles.mostBytesOfUser / 4016
        #expect(files.takeLost(of: 1) == 1000 - fitting && files.takeLost(of: 2) == 0)
        let peer = try listener.accept()
        for _ in 0..<fitting {
            #expect(try record(peer).text == text)
            reply(1, to: peer)
        }
        #expect(try record(peer).text == "other")
        reply(1, to: peer)
        // There is room again.
        wait {
            append("later", 1)
            return files.takeLost(of: 1) == 0
        }
        #expect(try record(peer).text == "later")
    }

    @Test func `what keychain-audit would not take is lost at once`() throws {
        append(String(repeating: "a", count: 65_537))
        append("")
        #expect(files.takeLost(of: 1) == 2)
    }

    @Test func `the end waits for the last replies`() throws {
        append("last")
        let peer = try listener.accept()
        _ = try record(peer)
        let ended = Box(false)
        let started = DetachedThread.start { [files, ended] in
            files.finish()
            ended.change { $0 = true }
        }
        #expect(started && !ended.value)
        reply(1, to: peer)
        wait { ended.value }
        // Its connection has ended.
        var byte: UInt8 = 0
        #expect(unsafe recv(peer.number, &byte, 1, 0) == 0)
    }
}
