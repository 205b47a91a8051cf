// SPDX-License-Identifier: Apache-2.0

/// A key as a TPM keeps it outside itself: nothing in it is secret, and no other TPM opens it.
package struct SealedKey: Sendable, Equatable {
    private static let versionByte: UInt8 = 1

    /// The registers that must be as they were: bit n of byte n / 8 is register n.
    let registers: [UInt8]
    /// The name of the TPM's storage key: another one is another TPM, or one that was cleared.
    let parent: [UInt8]
    let publicPart: [UInt8]
    let privatePart: [UInt8]

    init(registers: [UInt8], parent: [UInt8], publicPart: [UInt8], privatePart: [UInt8]) {
        self.registers = registers
        self.parent = parent
        self.publicPart = publicPart
        self.privatePart = privatePart
    }

    /// Throws `.damaged` at what this type did not write.
    package init(bytes: [UInt8]) throws(TPMError) {
        var rest = bytes.dropFirst(4)
        guard bytes.count >= 4, bytes[0] == Self.versionByte else { throw .damaged }
        func part() throws(TPMError) -> [UInt8] {
            guard rest.count >= 2 else { throw .damaged }
            let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            guard rest.count >= count else { throw .damaged }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        registers = Array(bytes[1..<4])
        parent = try part()
        publicPart = try part()
        privatePart = try part()
        guard rest.isEmpty else { throw .damaged }
    }

    package var bytes: [UInt8] {
        [parent, publicPart, privatePart].reduce([Self.versionByte] + registers) {
            $0 + [UInt8($1.count >> 8), UInt8($1.count & 0xFF)] + $1
        }
    }

    /// Numbers of registers as bits.
    static func bits(_ registers: [UInt8]) -> [UInt8] {
        registers.filter { $0 < 24 }.reduce(into: [0, 0, 0]) {
            $0[Int($1 / 8)] |= 1 << ($1 % 8)
        }
    }
}
