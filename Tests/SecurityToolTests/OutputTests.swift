// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import SecurityTool

private func text(_ secret: consuming SecretBytes) -> String {
    String(decoding: secret.releasedFromLockedMemory(), as: UTF8.self)
}

@Suite struct PrintedValues {
    private static let values: [([UInt8], String)] = [
        (Array("hello".utf8), "\"hello\""),
        (Array("a\"b".utf8), "\"a\"b\""),
        (Array("a\\b".utf8), "0x615C62  \"a\\134b\""),
        (Array("pä".utf8), "0x70C3A4  \"p\\303\\244\""),
        ([0, 1], "0x0001 "),
        ([], ""),
        (
            Array("20200101000000Z".utf8) + [0],
            "0x32303230303130313030303030305A00  \"20200101000000Z\\000\""
        ),
        ([0, 0, 0, 80], "0x00000050  \"\\000\\000\\000P\""),
        (Array("http".utf8), "\"http\""),
    ]

    @Test(arguments: Self.values)
    func `a value is text in quotes, else hexadecimal and what can be read`(
        _ bytes: [UInt8], _ shown: String
    ) {
        #expect(ValueText.of(bytes) == shown)
        #expect(text(ValueText.of(SecretBytes(copying: bytes))) == shown)
    }

    @Test(
        arguments: [
            ("secret", "secret"), ("a\\b", "a\\b"), ("pä", "70c3a4"), ("a\n", "610a"), ("", ""),
        ])
    func `a secret alone is text, else lower-case hexadecimal`(_ secret: String, _ shown: String) {
        #expect(text(ValueText.plain(SecretBytes(copying: Array(secret.utf8)))) == shown)
    }

    @Test(
        arguments: [
            (0, "20010101000000Z"), (599_529_600, "20200101000000Z"),
            (-1, "20001231235959Z"), (-978_307_200, "19700101000000Z"),
            (604_670_400, "20200229120000Z"), (604_713_600, "20200301000000Z"),
            (3_129_235_200, "21000301000000Z"),
        ] as [(Double, String)])
    func `a date is a calendar's in UTC`(_ seconds: Double, _ shown: String) {
        #expect(CalendarTime(secondsSince2001: seconds).text == shown)
    }

    @Test func `an item is shown with every attribute of its class`() throws {
        let reference = try #require(
            ItemReference(itemClass: .genericPassword, identifier: Array(repeating: 7, count: 16)))
        let item = Item(
            reference: reference,
            attributes: [
                .service: .string("MyService"), .account: .string("account1"),
                .label: .string("MyService"), .creationDate: .date(599_529_600),
                .creator: .number(0x6162_6364),
            ],
            accessControl: .plain(.whenUnlocked))
        #expect(
            AttributeDump.text(item, keychain: "/k/login.keychain") == """
                keychain: "/k/login.keychain"
                version: 512
                class: "genp"
                attributes:
                    0x00000007 <blob>="MyService"
                    0x00000008 <blob>=<NULL>
                    "acct"<blob>="account1"
                    "cdat"<timedate>=0x32303230303130313030303030305A00  "20200101000000Z\\000"
                    "crtr"<uint32>="abcd"
                    "cusi"<sint32>=<NULL>
                    "desc"<blob>=<NULL>
                    "gena"<blob>=<NULL>
                    "icmt"<blob>=<NULL>
                    "invi"<sint32>=<NULL>
                    "mdat"<timedate>=<NULL>
                    "nega"<sint32>=<NULL>
                    "prot"<blob>=<NULL>
                    "scrp"<sint32>=<NULL>
                    "svce"<blob>="MyService"
                    "type"<uint32>=<NULL>

                """)
    }

    @Test func `an attribute that was not given is no value, though its key has an empty one`() {
        let item = Item(
            reference: ItemReference(itemClass: .internetPassword, number: 7),
            attributes: [
                .securityDomain: .string(""), .comment: .string(""), .port: .number(0),
            ],
            accessControl: .plain(.whenUnlocked))
        let lines = AttributeDump.text(item, keychain: "/k/login.keychain").split(separator: "\n")
        #expect(lines.contains("    \"sdmn\"<blob>=<NULL>"))
        #expect(lines.contains("    \"icmt\"<blob>="))
        #expect(lines.contains("    \"port\"<uint32>=0x00000000 "))
    }

    @Test func `settings are one line`() {
        var settings = KeychainSettings.loosest
        #expect(SettingsCommands.line("x", settings) == "Keychain \"x\" no-timeout\n")
        settings.locksOnSleep = true
        settings.lockAfterIdle = 300
        #expect(
            SettingsCommands.line("x", settings)
                == "Keychain \"x\" lock-on-sleep use-lock-interval timeout=300s\n")
    }

    @Test(
        arguments: [
            (
                "-25300",
                "Error: 0xFFFF9D2C -25300 The specified item could not be found in the keychain.\n"
            ),
            ("0x0", "Error: 0x00000000 0 No error.\n"),
            ("0xFFFF9D2C", "Error: 0xFFFF9D2C -25300 \(CommandFailure.message(-25300))\n"),
        ])
    func `an error code is explained`(_ word: String, _ line: String) {
        #expect(ErrorCommand.line(word) == line)
    }

    @Test func `rights are text that is read back`() {
        for text in [
            "ak;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true)", "ck",
            "akpu;od(cup(true)cbio(pbioc(<>)pbioh(<>))pkofn(1));odel(true);oe(true)",
        ] {
            #expect(AccessControlText.value(of: text).map(AccessControlText.of) == text)
        }
        for text in [
            "", "xx", "ak;od", "ak;od(cpo(x))", "ak;zz(true)", "ak;od(cup(true)cup(true))",
        ] {
            #expect(AccessControlText.value(of: text) == nil, "\(text)")
        }
    }

    @Test(arguments: [[], [1], [1, 2], [1, 2, 3], Array(0...255)] as [[UInt8]])
    func `base64 is read back`(_ bytes: [UInt8]) {
        #expect(Base64.bytes(Base64.text(bytes)) == bytes)
        let pem = text(PEMText.of(SecretBytes(copying: bytes), "X"))
        let lines = pem.split(separator: "\n").dropFirst().dropLast()
        #expect(lines.joined() == Base64.text(bytes))
        #expect(lines.allSatisfy { $0.utf8.count <= 64 })
    }
}
