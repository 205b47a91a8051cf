// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    mutating func append<N: FixedWidthInteger & UnsignedInteger>(littleEndian number: N) {
        for shift in stride(from: 0, to: N.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }

    /// Of at most as many bytes as the type has.
    init(littleEndianBytes bytes: some Collection<UInt8>) {
        precondition(bytes.count <= Self.bitWidth / 8)
        var value: Self = 0
        for (position, byte) in bytes.enumerated() { value |= Self(byte) << (position * 8) }
        self = value
    }
}

extension [UInt8] {
    mutating func append(block: some Collection<UInt8>) {
        append(littleEndian: UInt32(clamping: block.count))
        append(contentsOf: block)
    }
}
