// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyGenerators
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct AttributeRecordTests {
    private static let nested = Constraint.atLeast(
        required: 2,
        of: [
            .userPresence, .never,
            .atLeast(required: -1, of: [.biometryAny, .biometryCurrentSet, .companion]),
        ])

    private static let record = AttributeRecord(
        attributes: [
            .service: .string("m\u{e4}il"), .account: .data([0, 1, 255]),
            .creator: .number(.min), .port: .number(443), .comment: .string(""),
            AttributeName(rawValue: "date"): .date(-1.5),
            AttributeName(rawValue: "real"): .real(.pi),
        ],
        group: "exe:/usr/bin/mail", isSynchronizable: true, hasSecret: true, created: 1.25,
        modified: 794_000_000.001,
        accessControl: ItemAccessControl(
            protection: .whenPasscodeSetThisDeviceOnly,
            operations: [.decrypt: nested, .encrypt: .always, .delete: .devicePasscode],
            defaultOperation: .companion, needsApplicationPassword: true),
        trusted: TrustList([
            TrustedApplication(
                "exe:/usr/bin/git", strength: .rootsFile, listedBy: "exe:/usr/bin/mail",
                listedAt: 794_000_000),
            TrustedApplication(
                "unit:shop.service", strength: .guarded, listedBy: nil, listedAt: -1),
        ]))

    private func deep(_ levels: Int) -> ItemAccessControl {
        var constraint = Constraint.always
        for _ in 1..<levels { constraint = .atLeast(required: 1, of: [constraint]) }
        return ItemAccessControl(
            protection: .always, operations: [.decrypt: constraint], defaultOperation: nil)
    }

    @Test func `a record survives its encoding`() throws {
        let bytes = try Self.record.encoded()
        #expect(try AttributeRecord(decoding: bytes) == Self.record)
        // One record, one encoding.
        #expect(try AttributeRecord(decoding: bytes).encoded() == bytes)
    }

    @Test(arguments: Accessibility.allCases)
    func `plain rights survive their encoding`(_ accessible: Accessibility) throws {
        for rights in [
            ItemAccessControl.plain(accessible),
            ItemAccessControl(protection: accessible, operations: [:], defaultOperation: nil),
        ] {
            #expect(try ItemAccessControl(decoding: rights.encoded()) == rights)
        }
    }

    @Test func `constraints nest as deep as the model allows and no deeper`() throws {
        let deepest = deep(Constraint.largestDepth)
        #expect(try ItemAccessControl(decoding: deepest.encoded()) == deepest)
        #expect(throws: KeychainStoreError.tooLarge) {
            try deep(Constraint.largestDepth + 1).encoded()
        }
        let nested = [UInt8](repeating: 7, count: 100_000)
        #expect(throws: MalformedBytes.self) {
            try ItemAccessControl(decoding: [0, 2] + nested)
        }
    }

    @Test func `a record cut short anywhere is malformed`() throws {
        let bytes = try Self.record.encoded()
        for count in 0..<bytes.count {
            #expect(throws: MalformedBytes.self) {
                try AttributeRecord(decoding: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: MalformedBytes.self) { try AttributeRecord(decoding: bytes + [0]) }
    }

    @Test func `a group that is longer than any program's identity is malformed`() throws {
        var record = AttributeRecord(
            attributes: [:], group: "", isSynchronizable: false, hasSecret: false, created: 0,
            modified: 0, accessControl: .plain(.always))
        let empty = try record.encoded()
        // The group's length and bytes stand before the two of the count of attributes.
        func encoded(_ count: Int) -> [UInt8] {
            Array(empty.dropLast(6)) + UInt32(count).littleEndianBytes
                + [UInt8](repeating: 0x67, count: count) + [0, 0]
        }
        record.group = String(repeating: "g", count: AttributeRecord.longestGroup)
        #expect(try record.encoded() == encoded(AttributeRecord.longestGroup))
        #expect(try AttributeRecord(decoding: encoded(AttributeRecord.longestGroup)) == record)
        record.group += "g"
        #expect(throws: KeychainStoreError.tooLarge) { try record.encoded() }
        #expect(throws: MalformedBytes.self) {
            try AttributeRecord(decoding: encoded(AttributeRecord.longestGroup + 1))
        }
    }

    @Test func `another version is malformed`() throws {
        var bytes = try Self.record.encoded()
        for version in [UInt8(0), 2, 255] {
            bytes[0] = version
            #expect(throws: MalformedBytes.self) { try AttributeRecord(decoding: bytes) }
        }
    }

    @Test func `any change of a record's bytes is malformed or another record`() throws {
        let bytes = try Self.record.encoded()
        for position in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[position] ^= 1 << bit
                guard let record = try? AttributeRecord(decoding: changed) else { continue }
                #expect(try record.encoded() == changed, "byte \(position), bit \(bit)")
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `random bytes never trap`(_ seed: UInt64) {
        var random = SplitMix(seed: seed)
        for _ in 0..<10_000 {
            var bytes = (0..<random.below(120)).map { _ in UInt8(random.below(256)) }
            if !bytes.isEmpty, random.chance(50) { bytes[0] = AttributeRecord.version }
            Self.decode(bytes)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `bytes that begin well and go on at random never trap`(_ seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let bytes = try Self.record.encoded()
        for _ in 0..<10_000 {
            var changed = bytes
            for _ in 0...random.below(4) {
                let position = random.below(changed.count)
                switch random.below(4) {
                case 0: changed.remove(at: position)
                case 1: changed.insert(UInt8(random.below(256)), at: position)
                case 2: changed.replaceSubrange(position..., with: changed.suffix(position))
                default: changed[position] = UInt8(random.below(256))
                }
                if changed.isEmpty { break }
            }
            Self.decode(changed)
        }
    }

    /// What can be read is what is written: no two rows mean the same.
    private static func decode(_ bytes: [UInt8]) {
        if let rights = try? ItemAccessControl(decoding: bytes) {
            #expect((try? rights.encoded()) == bytes)
        }
        guard let record = try? AttributeRecord(decoding: bytes) else { return }
        #expect((try? record.encoded()) == bytes)
    }

    @Test func `lengths are believed only as far as there are bytes`() throws {
        let head = Array(try Self.record.encoded().prefix(18))
        for length in [UInt32(1), 1 << 16, .max] {
            #expect(throws: MalformedBytes.self) {
                try AttributeRecord(decoding: head + length.littleEndianBytes)
            }
        }
    }

    @Test func `too many or too large attributes are refused`() throws {
        var record = Self.record
        record.attributes[.comment] = .data([UInt8](repeating: 0, count: AttributeRecord.largest))
        #expect(throws: KeychainStoreError.tooLarge) { try record.encoded() }
        record.attributes = [:]
        for number in 0...AttributeRecord.mostAttributes {
            record.attributes[AttributeName(rawValue: "\(number)")] = .number(0)
        }
        #expect(throws: KeychainStoreError.tooLarge) { try record.encoded() }
    }
}
