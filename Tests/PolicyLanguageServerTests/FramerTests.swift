// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PolicyLanguageServer

/// The stream between an editor and the server.
@Suite struct FramerTests {
    private func pieces(_ texts: [String]) -> [MessageFramer.Piece] {
        var framer = MessageFramer()
        var pieces: [MessageFramer.Piece] = []
        for text in texts {
            framer.add(Array(text.utf8))
            while let piece = framer.next() { pieces.append(piece) }
        }
        return pieces
    }

    private static let stream =
        "Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]"
    private static let expected: [MessageFramer.Piece] = [
        .message(Array("{}".utf8)), .message(Array("[1]".utf8)),
    ]

    @Test func `messages come wherever the stream is cut`() {
        let bytes = Array(Self.stream)
        for cut in 0...bytes.count {
            #expect(pieces([String(bytes[..<cut]), String(bytes[cut...])]) == Self.expected)
        }
        #expect(pieces(bytes.map { String($0) }) == Self.expected)
    }

    @Test func `half a message is none`() {
        let half = "Content-Length: 5\r\n\r\n{}"
        #expect(pieces([half]).isEmpty)
        #expect(pieces(["Content-Length: 5\r\n"]).isEmpty)
    }

    @Test func `a message of 20 MB is passed over, and the next one is read`() {
        let count = 20_000_000
        let piece = String(repeating: "x", count: 1_000_000)
        let texts =
            ["Content-Length: \(count)\r\n\r\n"] + [String](repeating: piece, count: 20)
            + [Self.stream]
        #expect(pieces(texts) == [.tooLong(count)] + Self.expected)
    }

    @Test func `as much as is allowed is read`() {
        let most = MessageFramer.longestMessage
        let text = String(repeating: " ", count: most)
        #expect(
            pieces(["Content-Length: \(most)\r\n\r\n", text])
                == [.message([UInt8](repeating: 0x20, count: most))])
        #expect(
            pieces(["Content-Length: \(most + 1)\r\n\r\n", text + " " + Self.stream])
                == [.tooLong(most + 1)] + Self.expected)
    }

    @Test(arguments: [
        "\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "Content-Length: 1 2 x\r\n\r\n",
        "Content-Length:\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length: 2\r\nX: \0\r\n\r\n{}",
        "Content-Length: 2\r\nX: \u{E9}\r\n\r\n{}",
        "{\"jsonrpc\": \"2.0\"}" + String(repeating: " ", count: 5000),
    ])
    func `behind a header that says no length nothing is read`(_ header: String) {
        #expect(pieces([header, Self.stream, Self.stream]) == [.noHeader])
    }
}
