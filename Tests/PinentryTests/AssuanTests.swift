// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import KeychainSecrets
import Testing

@testable import Pinentry

@Suite struct AssuanTests {
    /// The other end of a connection, in this test's hands.
    private final class Peer {
        let connection: AssuanConnection
        private let there: Descriptor
        private lazy var file = FileHandle(fileDescriptor: there.number, closeOnDealloc: false)

        init(longestAnswer: Int = 16) throws {
            let (here, there) = try AssuanConnection.pair()
            connection = AssuanConnection(here, longestAnswer: longestAnswer)
            self.there = there
        }

        func says(_ text: String) throws { try file.write(contentsOf: Data(text.utf8)) }

        func answer() throws -> String {
            let reply = try connection.reply { false }
            return String(decoding: reply.data.bytes.releasedFromLockedMemory(), as: UTF8.self)
        }
    }

    @Test func `an answer is decoded from as many lines as it comes in`() throws {
        let peer = try Peer()
        try peer.says("# a comment\nS STATUS words\nD a%25b%0ac\nD %C3%A9\nOK closing\n")
        #expect(try peer.answer() == "a%b\nc\u{e9}")
    }

    @Test func `an answer without data is empty`() throws {
        let peer = try Peer()
        try peer.says("OK\n")
        #expect(try peer.answer().isEmpty)
    }

    @Test func `replies that arrive together are told apart`() throws {
        let peer = try Peer()
        try peer.says("D one\nOK\nD two\nOK\n")
        #expect(try peer.answer() == "one")
        #expect(try peer.answer() == "two")
    }

    @Test func `an error keeps its number`() throws {
        let peer = try Peer()
        try peer.says("ERR 83886179 Operation cancelled <Pinentry>\nERR none\n")
        #expect(try peer.connection.reply { false }.error == 83_886_179)
        #expect(try peer.connection.reply { false }.error == .max)
    }

    @Test(arguments: ["D %\nOK\n", "D %4\nOK\n", "D %4g\nOK\n", "D a%00b\nOK\n", "INQUIRE X\n"])
    func `what makes no sense is no answer`(_ said: String) throws {
        let peer = try Peer()
        try peer.says(said)
        #expect(throws: PinentryError.notShown) { try peer.answer() }
    }

    @Test func `an answer may be as long as is said and no longer`() throws {
        let peer = try Peer(longestAnswer: 4)
        try peer.says("D abcd\nOK\nD abcde\nOK\n")
        #expect(try peer.answer() == "abcd")
        #expect(throws: PinentryError.tooLong) { try peer.answer() }
    }

    @Test func `a line without an end is not read for ever`() throws {
        let peer = try Peer()
        try peer.says(String(repeating: "x", count: 5000))
        #expect(throws: PinentryError.notShown) { try peer.answer() }
    }

    @Test func `a pinentry that goes away has cancelled`() throws {
        let connection: AssuanConnection
        do {
            let (here, there) = try AssuanConnection.pair()
            connection = AssuanConnection(here, longestAnswer: 16)
            _ = there
        }
        #expect(throws: PinentryError.cancelled) { try connection.reply { false } }
        #expect(throws: PinentryError.notShown) { try connection.send("GETPIN") }
    }

    @Test func `a reply is awaited no longer than the question is open`() throws {
        let peer = try Peer()
        #expect(throws: PinentryError.abandoned) { try peer.connection.reply { true } }
    }

    @Test func `text can neither end its line nor deceive`() {
        #expect(
            AssuanText.line("SETDESC", "50%\nGETPIN\r\u{202e}\u{1b}[2J")
                == "SETDESC 50%25%0AGETPIN\\u{d}\\u{202e}\\u{1b}[2J")
    }

    @Test(arguments: ["x", "é", "%", "\n", "\u{1F512}", "\u{7}"])
    func `text is cut where a line of Assuan ends`(_ unit: String) {
        for length in [100, 990, 991, 992, 1200] {
            let line = AssuanText.line("SETDESC", String(repeating: unit, count: length))
            #expect(line.utf8.count < AssuanText.longestLine)
        }
        let short = AssuanText.line("SETDESC", String(repeating: unit, count: 10))
        #expect(!short.hasSuffix("…"))
        let long = AssuanText.line("SETDESC", String(repeating: unit, count: 1000))
        #expect(long.hasSuffix("…") && long.utf8.count > AssuanText.longestLine - 20)
    }
}
