// SPDX-License-Identifier: Apache-2.0
import SecurityKeys
import Testing

/// Which of a machine's devices are opened as security keys.
@Suite struct ReportDescriptorTests {
    /// As the CTAP standard gives it (CTAPHID, 11.2.8.1).
    private static let key: [UInt8] = [
        0x06, 0xD0, 0xF1, 0x09, 0x01, 0xA1, 0x01, 0x09, 0x20, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75,
        0x08, 0x95, 0x40, 0x81, 0x02, 0x09, 0x21, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95,
        0x40, 0x91, 0x02, 0xC0,
    ]
    /// A keyboard that starts the computer, from the HID standard (appendix E.6).
    private static let keyboard: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25,
        0x01, 0x75, 0x01, 0x95, 0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x95, 0x05,
        0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29, 0x05, 0x91, 0x02, 0x95, 0x01, 0x75, 0x03, 0x91,
        0x01, 0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, 0x65, 0x05, 0x07, 0x19, 0x00, 0x29, 0x65,
        0x81, 0x00, 0xC0,
    ]

    private func isKey(_ bytes: [UInt8]) -> Bool { ReportDescriptor.isSecurityKey(bytes) }

    @Test func `a security key is one, also as one of several collections`() {
        #expect(isKey(Self.key))
        #expect(isKey(Self.keyboard + Self.key))
        #expect(isKey(Self.key + Self.keyboard))
        // Page and usage in four bytes of one item, and after an item of the long kind.
        #expect(isKey([0x0B, 0x01, 0x00, 0xD0, 0xF1, 0xA1, 0x01]))
        #expect(isKey([0xFE, 0x02, 0x10, 0xA1, 0x01] + Self.key))
    }

    @Test func `what is no security key is not opened as one`() {
        #expect(!isKey(Self.keyboard))
        #expect(!isKey([]))
        // Another page, another usage, another kind of collection, none.
        #expect(!isKey([0x06, 0xD1, 0xF1, 0x09, 0x01, 0xA1, 0x01]))
        #expect(!isKey([0x06, 0xD0, 0xF1, 0x09, 0x02, 0xA1, 0x01]))
        #expect(!isKey([0x06, 0xD0, 0xF1, 0x09, 0x01, 0xA1, 0x02]))
        #expect(!isKey([0x06, 0xD0, 0xF1, 0x09, 0x01]))
        // The same bytes within a long item, or in the values of others.
        #expect(!isKey([0xFE, UInt8(Self.key.count), 0x10] + Self.key))
        #expect(!isKey([0x27, 0x06, 0xD0, 0xF1, 0x09, 0x27, 0x01, 0xA1, 0x01, 0xC0]))
    }

    @Test func `one that is cut off is none, and no bytes are read beyond its end`() {
        for count in 0..<6 { #expect(!isKey(Array(Self.key.prefix(count)))) }
        for head in UInt8.min...UInt8.max {
            for rest in 0..<6 { #expect(!isKey([head] + [UInt8](repeating: 0xFF, count: rest))) }
        }
    }

    @Test func `the key's item is not looked for beyond what the kernel takes`() {
        let filling = [UInt8](repeating: 0xC0, count: 4096)
        #expect(isKey(filling.dropLast(Self.key.count) + Self.key))
        #expect(!isKey(filling + Self.key))
    }

    @Test func `random bytes are judged, whatever they are`() {
        for _ in 0..<20_000 {
            var bytes = Bool.random() ? Self.key : Self.keyboard
            for _ in 0..<Int.random(in: 1...8) {
                bytes[Int.random(in: bytes.indices)] = UInt8.random(in: 0...255)
            }
            _ = isKey(Array(bytes.prefix(Int.random(in: 0...bytes.count))))
        }
    }
}
