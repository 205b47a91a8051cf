// SPDX-License-Identifier: Apache-2.0

/// What stands before each frame: 40 bytes, little-endian.
///
/// magic 4, version 2, flags 2 (zero), message length 4, secrets length 4, sequence 8, nonce 16.
struct FrameHeader {
    static let byteCount = 40
    static let nonceBytes = 16
    private static let magic: UInt32 = 0x3146_434B  // "KCF1"
    private static let version: UInt16 = 1

    let messageLength: Int
    let secretsLength: Int
    let sequence: UInt64
    let nonce: [UInt8]

    init(messageLength: Int, secretsLength: Int, sequence: UInt64, nonce: [UInt8]) {
        self.messageLength = messageLength
        self.secretsLength = secretsLength
        self.sequence = sequence
        self.nonce = nonce
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // Safe: only what is sent is put together here.
        bytes.reserveCapacity(Self.byteCount + messageLength)
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: UInt32(clamping: messageLength))
        bytes.append(littleEndian: UInt32(clamping: secretsLength))
        bytes.append(littleEndian: sequence)
        bytes += nonce
        return bytes
    }

    /// With that nonce, and no other. A header of another version has magic and version where ours
    /// has them, and may have anything behind them.
    init(_ bytes: RawSpan, _ nonce: [UInt8]) throws(SocketError) {
        guard bytes.byteCount == Self.byteCount, bytes.number(at: 0, UInt32.self) == Self.magic
        else { throw .malformed }
        let version = bytes.number(at: 4, UInt16.self)
        // Safe: sixteen bits.
        if let error = SocketError(peerOf: Int(version), readerOf: Int(Self.version)) {
            throw error
        }
        guard bytes.number(at: 6, UInt16.self) == 0, bytes.extracting(24..<40).isSame(as: nonce)
        else { throw .malformed }
        messageLength = Int(bytes.number(at: 8, UInt32.self))
        secretsLength = Int(bytes.number(at: 12, UInt32.self))
        sequence = bytes.number(at: 16, UInt64.self)
        self.nonce = nonce
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}

extension RawSpan {
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, _: Number.Type
    ) -> Number {
        // Safe: an integer of any bytes is an integer; the offset is checked by the span.
        unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    func isSame(as other: [UInt8]) -> Bool {
        // Safe: only looks at what is borrowed.
        unsafe withUnsafeBytes { unsafe $0.elementsEqual(other) }
    }

    var copied: [UInt8] {
        // Safe: copies what is borrowed.
        unsafe withUnsafeBytes { unsafe Array($0) }
    }
}
