// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainModel

@Suite struct ModelTests {
    @Test func `a reference is twenty bytes and names its class`() throws {
        let reference = try #require(
            ItemReference(itemClass: .internetPassword, identifier: Array(0..<16)))
        #expect(reference.bytes == Array("inet".utf8) + Array(0..<16))
        #expect(ItemReference(bytes: reference.bytes) == reference)
    }

    @Test(arguments: ["", "acct", "1234567", "12345678", "é", "a\0", "a\0b", "pair:user"])
    func `an attribute's name is kept as it is written`(_ name: String) {
        #expect(Array(AttributeName(rawValue: name).rawValue.utf8) == Array(name.utf8))
    }

    @Test func `names of attributes are in the order of their bytes, the shorter first`() {
        let names = ["", "a", "a\0", "aa", "aaaaaaa", "aaaaaaab", "ab", "cafe\u{301}", "caf\u{E9}"]
        let sorted = names.reversed().map { AttributeName(rawValue: $0) }.sorted()
        #expect(sorted.map { Array($0.rawValue.utf8) } == names.map { Array($0.utf8) })
        #expect(Set(sorted).count == names.count)
    }

    @Test func `rights that ask for nothing are plain, however they were made`() {
        let made = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .always)
        #expect(made == .plain(.whenUnlocked))
        #expect(made.operations.isEmpty && made.boundBiometry.isEmpty)
        #expect(made.defaultOperation == .always && !made.isBoundToBiometry)
        #expect(made != made.bound(to: [1]))
        #expect(made.bound(to: [1]).boundBiometry == [1])
    }

    @Test(arguments: [0, 12, 19, 21])
    func `bytes of another length are no reference`(_ count: Int) {
        #expect(
            ItemReference(
                bytes: Array(("genp" + String(repeating: "x", count: 30)).utf8.prefix(count)))
                == nil)
    }

    @Test(arguments: ["login", "work", "a.b_c-1", String(repeating: "x", count: 64)])
    func `a good keychain name is kept`(_ name: String) {
        #expect(KeychainName(name)?.description == name)
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "../login", "a b", "é", "a\0", "a\n",
        String(repeating: "x", count: 65),
    ])
    func `a name that could lead elsewhere is refused`(_ name: String) {
        #expect(KeychainName(name) == nil)
    }

    @Test func `text compares by its bytes`() {
        #expect(AttributeValue.string("caf\u{E9}") != .string("cafe\u{301}"))
        #expect(AttributeValue.string("x") != .data(Array("x".utf8)))
        #expect(
            AttributeValue.string("x").comparedBytes == AttributeValue.data([120]).comparedBytes)
        #expect(AttributeValue.number(1) != .string("1"))
        #expect(AttributeValue.date(0) == .date(-0.0))
    }

    @Test(arguments: [
        (Accessibility.whenUnlocked, "ak"), (.afterFirstUnlock, "ck"), (.always, "dk"),
        (.whenUnlockedThisDeviceOnly, "aku"), (.afterFirstUnlockThisDeviceOnly, "cku"),
        (.alwaysThisDeviceOnly, "dku"), (.whenPasscodeSetThisDeviceOnly, "akpu"),
    ])
    func `each accessibility has Apple's code`(_ accessible: Accessibility, _ code: String) {
        #expect(accessible.code == code)
        #expect(Accessibility(code: code) == accessible)
    }

    @Test func `the uniqueness keys are those of the specification`() {
        let shared = ["agrp", "ggrp", "musr", "sync", "tkid", "vwht"]
        let generic = ItemClass.genericPassword.keyAttributes.map(\.name.rawValue)
        let internet = ItemClass.internetPassword.keyAttributes.map(\.name.rawValue)
        #expect(generic.sorted() == (shared + ["acct", "svce"]).sorted())
        #expect(
            internet.sorted()
                == (shared + ["acct", "atyp", "path", "port", "ptcl", "sdmn", "srvr"]).sorted())
    }

    @Test func `an operation without an entry takes the default, and without that is forbidden`() {
        let rights = ItemAccessControl(
            protection: .whenUnlocked, operations: [.decrypt: .userPresence],
            defaultOperation: nil)
        #expect(rights.constraint(for: .decrypt) == .userPresence)
        #expect(rights.constraint(for: .sign) == .never)
        #expect(ItemAccessControl.plain(.always).constraint(for: .sign) == .always)
    }
}

@Suite struct AccessControlFlagsTests {
    private static let contradictions: [AccessControlFlags] = [
        [.or, .and], [.biometryAny, .biometryCurrentSet], [.userPresence, .devicePasscode],
        [.userPresence, .or], [.userPresence, .biometryAny],
        [.userPresence, AccessControlFlags(rawValue: 1 << 20)],
    ]

    @Test(arguments: contradictions)
    func `flags that contradict each other make no access control`(_ flags: AccessControlFlags) {
        #expect(flags.accessControl(protecting: .whenUnlocked) == nil)
    }

    private static let meanings: [(AccessControlFlags, Constraint)] = [
        ([], .always), (.or, .always), (.userPresence, .userPresence),
        (.devicePasscode, .devicePasscode), (.biometryAny, .biometryAny),
        (
            [.devicePasscode, .biometryAny],
            .atLeast(required: 2, of: [.devicePasscode, .biometryAny])
        ),
        (
            [.devicePasscode, .or, .biometryAny],
            .atLeast(required: 1, of: [.devicePasscode, .biometryAny])
        ),
        ([.userPresence, .privateKeyUsage], .never),
        ([.devicePasscode, AccessControlFlags(rawValue: 1 << 20)], .devicePasscode),
    ]

    @Test(arguments: meanings)
    func `flags mean this for reading`(_ flags: AccessControlFlags, _ reading: Constraint) throws {
        let rights = try #require(flags.accessControl(protecting: .always))
        #expect(rights.constraint(for: .decrypt) == reading)
        #expect(rights.constraint(for: .delete) == .always)
    }
}
