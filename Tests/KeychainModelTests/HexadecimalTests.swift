// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@Suite struct HexadecimalTests {
    @Test func `each byte is two digits in lower case`() {
        #expect([UInt8]([0x00, 0x0A, 0x9F, 0xFF]).hexadecimal == "000a9fff")
        #expect([UInt8]().hexadecimal.isEmpty)
    }

    @Test func `digits in lower case are read as they were written`() {
        let bytes: [UInt8] = [0x00, 0x0A, 0x9F, 0xFF]
        #expect([UInt8](hexadecimal: bytes.hexadecimal) == bytes)
        #expect([UInt8](hexadecimal: "") == [])
        for other in ["0", "000", "0A", "0g", " 0", "é0"] {
            #expect([UInt8](hexadecimal: other) == nil)
        }
    }
}
