// SPDX-License-Identifier: Apache-2.0

/// The first bytes that the daemon sends: a name, the version of what follows as a digit, and the
/// nonce of the connection.
struct Hello {
    static let byteCount = headBytes + FrameHeader.nonceBytes
    static let headBytes = name.count + 1
    private static let name = Array("KCHELLO".utf8)
    private static let version = 1

    let nonce: [UInt8]

    init(nonce: [UInt8]) { self.nonce = nonce }

    var bytes: [UInt8] { Self.name + [UInt8(ascii: "0") + UInt8(Self.version)] + nonce }

    /// Parses a whole hello.
    init(_ bytes: [UInt8]) throws(SocketError) {
        try Self.checkHead(bytes)
        guard bytes.count == Self.byteCount else { throw .malformed }
        nonce = Array(bytes.dropFirst(Self.headBytes))
    }

    /// Checks name and version of a hello, which may be of another version and then of any length.
    static func checkHead(_ bytes: [UInt8]) throws(SocketError) {
        guard bytes.count >= headBytes, bytes.starts(with: name) else { throw .malformed }
        let digit = Int(bytes[name.count]) - Int(UInt8(ascii: "0"))
        guard (0...9).contains(digit) else { throw .malformed }
        if let error = SocketError(peerOf: digit, readerOf: version) { throw error }
    }
}
