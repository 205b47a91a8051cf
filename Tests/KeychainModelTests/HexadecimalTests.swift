// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@Suite struct HexadecimalTests {
    @Test func `each byte is two digits in lower case`() {
        #expect([UInt8]([0x00, 0x0A, 0x9F, 0xFF]).hexadecimal == "000a9fff")
        #expect([UInt8]().hexadecimal.isEmpty)
    }
}
