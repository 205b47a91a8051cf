// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainModel

/// Attributes by name.
@Suite struct AttributesTests {
    private let names = [
        "", "a", "acct", "acct\0", "labl", "seven77", "pair:", "pair:a", "pair:ab", "zz",
        "\u{e9}", "seven77\0", "seven777",
    ].map(AttributeName.init(rawValue:))

    @Test func `names are in the order of their bytes, the short ones and the long ones`() {
        for a in names {
            for b in names {
                let inOrder = Array(a.rawValue.utf8).lexicographicallyPrecedes(b.rawValue.utf8)
                #expect((a < b) == inOrder, "\(a.rawValue) and \(b.rawValue)")
                #expect((a == b) == (a.rawValue == b.rawValue))
            }
        }
    }

    @Test func `a name's bytes are those of its text`() throws {
        for name in names {
            var writer = ByteWriter(capacity: 0)
            writer.append(name: name)
            var asText = ByteWriter(capacity: 0)
            asText.append(text: name.rawValue)
            #expect(writer.bytes == asText.bytes)
            var reader = ByteReader(writer.bytes)
            #expect(try reader.name() == name)
            #expect(reader.isAtEnd)
        }
    }

    @Test(arguments: [[0xFF], [0x61, 0xC3], [0xC0, 0x80], Array(repeating: 0x80, count: 9)])
    func `a name that is not UTF-8 is malformed`(_ bytes: [UInt8]) {
        var writer = ByteWriter(capacity: 0)
        writer.append(block: bytes)
        var reader = ByteReader(writer.bytes)
        #expect(throws: MalformedBytes()) { _ = try reader.name() }
    }

    @Test func `attributes are found, changed and removed in whatever order they came`() {
        for first in [names, names.reversed(), names.shuffled()] {
            var attributes: Attributes = [:]
            for (place, name) in first.enumerated() {
                #expect(attributes[name] == nil)
                attributes[name] = .number(Int64(place))
            }
            #expect(attributes.map(\.key) == names.sorted())
            for (place, name) in first.enumerated() {
                #expect(attributes[name] == .number(Int64(place)))
                #expect(
                    attributes.updateValue(.string("new"), forKey: name) == .number(Int64(place)))
            }
            #expect(attributes.count == names.count)
            for name in first {
                #expect(attributes.removeValue(forKey: name) == .string("new"))
                #expect(attributes.removeValue(forKey: name) == nil)
                attributes[name] = nil
                #expect(attributes[name] == nil)
            }
            #expect(attributes.isEmpty)
        }
    }

    @Test func `of two that are merged the other's value counts`() {
        let own: Attributes = [.label: .string("own"), .service: .string("s")]
        let other: Attributes = [.label: .string("other"), .account: .string("a")]
        let both = own.merging(other)
        #expect(
            both == [.account: .string("a"), .label: .string("other"), .service: .string("s")])
        #expect(both != own)
        #expect(Set([both, both.filter { _ in true }]).count == 1)
    }
}
