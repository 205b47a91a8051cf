// SPDX-License-Identifier: Apache-2.0
import KeychainImport
import KeychainModel
import KeychainSecrets
import Testing

@testable import ImportSources

/// The XML of KeePass 2 and KeePassXC.
@Suite struct KeePassTextTests {
    struct Found: Equatable {
        var items: [String] = []
        var notBrought: [Int] = []
        var leftOut: [Int] = []
        var error: ImportError?
    }

    private func read(_ text: String) -> Found { read(Array(text.utf8)) }

    private func read(_ bytes: [UInt8]) -> Found {
        var rest = bytes[...]
        var found = Found()
        ImportReading(.keepass, name: "").run({
            defer { rest = rest.dropFirst(50) }
            return SecretBytes(copying: Array(rest.prefix(50)))
        }) { message in
            switch message {
            case .item(let item): found.items.append(Self.text(item))
            case .notBrought(let line): found.notBrought.append(line)
            case .leftOut(let line): found.leftOut.append(line)
            case .failed(let error): found.error = error
            case .skipped, .finished: break
            }
            return true
        }
        return found
    }

    private static func text(_ item: ImportedItem) -> String {
        let attributes = item.attributes.sorted { $0.key < $1.key }.map { name, value in
            "\(name.rawValue)=\(String(decoding: value.comparedBytes, as: UTF8.self))"
        }
        let secret = String(decoding: item.secret.bytes.releasedFromLockedMemory(), as: UTF8.self)
        return "\(item.line) \(attributes.joined(separator: " ")) → \(secret)"
    }

    private static func file(_ root: String, meta: String = "<Meta/>") -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<KeePassFile>\(meta)<Root>\(root)</Root></KeePassFile>\n"
    }

    private static func string(_ key: String, _ value: String) -> String {
        "<String><Key>\(key)</Key><Value ProtectInMemory='True'>\(value)</Value></String>"
    }

    private static let entry = """
        <Entry><UUID>QQ==</UUID><Tags/><Times><Expires>False</Expires></Times>
        \(string("Title", "Git &amp; &#x67;it")) \(string("UserName", "me"))
        \(string("Password", "a&lt;b\r\n&#252;")) \(string("URL", "https://git.example:8443/x"))
        \(string("Notes", "two\nlines")) \(string("otp", "otpauth://totp/x"))
        <String><Key>PIN</Key><Value>1234</Value></String><!-- a <comment> -->
        <History><Entry>\(string("Password", "old"))</Entry><Entry>\(string("Password", "old"))</Entry>
        <Entry>\(string("Password", "a&lt;b\n&#252;"))</Entry></History>
        </Entry>
        """

    @Test func `an entry is brought with its fields and its earlier passwords`() {
        let found = read(
            Self.file(
                "<Group><Name>Root</Name><Group><Name>Work</Name>\(Self.entry)</Group></Group>"))
        #expect(
            found
                == Found(items: [
                    "2 acct=me icmt=Root/Work labl=Git & git path=/x port=8443 ptcl=htps"
                        + " srvr=git.example → a<b\nü",
                    "2 acct=me desc=one-time password icmt=Root/Work"
                        + " svce=Git & git (one-time password) → otpauth://totp/x",
                    "2 acct=me desc=notes icmt=Root/Work svce=Git & git (notes) → two\nlines\n"
                        + "PIN: 1234\nearlier password: old",
                ]))
    }

    @Test func `what was thrown away, files and notes of groups are not brought`() {
        let kept =
            "<Entry>\(Self.string("Title", "a"))\(Self.string("Password", "1"))\n"
            + "<Binary><Key>x</Key><Value Ref='0'/></Binary></Entry>"
        let root = """
            <Group><Name>Root</Name>
            <Notes>words</Notes>
            \(kept)
            <Group><UUID>AQID</UUID><Name>Bin</Name>
            \(kept)<Group>
            \(kept)</Group></Group></Group>
            """
        let bin =
            "<Meta><RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>AQID</RecycleBinUUID></Meta>"
        let found = read(Self.file(root, meta: bin))
        #expect(found.items == ["4 icmt=Root svce=a → 1"])
        #expect(found.notBrought == [3, 5, 7, 9])
        // Without such a group it is one like another.
        #expect(read(Self.file(root)).items.count == 3)
        let none = bin.replacing("AQID", with: "AAAA")
        #expect(read(Self.file(root.replacing("AQID", with: "AAAA"), meta: none)).items.count == 3)
    }

    @Test func `an entry without a secret is left out`() {
        let found = read(Self.file("<Group><Entry>\(Self.string("Title", "a"))</Entry></Group>"))
        #expect(found == Found(leftOut: [2]))
    }

    @Test func `a value that is encrypted once more is not taken for a password`() {
        let sealed = "<String><Key>Password</Key><Value Protected='True'>QUJD</Value></String>"
        let found = read(Self.file("<Group><Entry>\(sealed)</Entry></Group>"))
        #expect(found == Found(error: .malformed(line: 2)))
    }

    @Test(arguments: [
        "<", "<?xml", "<a/>", "<KeePassFile>", "<KeePassFile></KeePass>",
        "<KeePassFile>x</KeePassFile>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><KeePassFile/>", "<KeePassFile/><KeePassFile/>",
        "<KeePassFile a/>", "<KeePassFile a=b/>", "<KeePassFile a='b/>", "<KeePassFile/>x",
        "<KeePassFile><![CDATA[x]]></KeePassFile>", "<KeePassFile><!-- </KeePassFile>",
        "</KeePassFile>",
        "<KeePassFile><Root><Group><Name>&b;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#0;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#xD800;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&lt</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&LT;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#x;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#+65;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#x+41;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#-1;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#6 5;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#X41;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#x110000;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#x010FFFF;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name>&#01114111;</Name></Group></Root></KeePassFile>",
        "<KeePassFile><Root><Group><Name><b/></Name></Group></Root></KeePassFile>",
        "<KeePassFile>" + String(repeating: "<Root>", count: 200),
        "<\(String(repeating: "a", count: 100))/>",
    ])
    func `what is no such XML is refused`(_ text: String) {
        #expect(read(text) == Found(error: .malformed(line: 1)))
    }

    @Test(arguments: [
        ("&#x10FFFF;", "\u{10FFFF}"), ("&#x10ffff;", "\u{10FFFF}"), ("&#1114111;", "\u{10FFFF}"),
        ("&#0000065;", "A"), ("&#x000041;", "A"), ("&quot;&apos;&gt;", "\"'>"),
    ])
    func `an escape is the character that it stands for`(_ escape: String, _ character: String) {
        let entry = Self.string("Title", "a") + Self.string("Password", escape)
        let found = read(Self.file("<Group><Entry>\(entry)</Entry></Group>"))
        #expect(found == Found(items: ["2 svce=a → \(character)"]))
    }

    @Test func `of an entry's earlier passwords 256 are brought, and the others are told`() {
        let earlier = (1...258).map { "<Entry>\(Self.string("Password", "old \($0)"))</Entry>\n" }
        let entry = Self.string("Title", "a") + Self.string("Password", "1")
        let history = "<History>\n\(earlier.joined())</History>"
        let found = read(Self.file("<Group><Entry>\(entry)\(history)</Entry></Group>"))
        let lines = (1...256).map { "earlier password: old \($0)" }
        #expect(
            found.items == [
                "2 svce=a → 1",
                "2 desc=notes svce=a (notes) → " + lines.joined(separator: "\n"),
            ])
        // The first one stands in the third line.
        #expect(found.notBrought == [259, 260] && found.error == nil)
    }

    @Test(arguments: [false, true])
    func `earlier passwords that are the entry's own or stood there before take no room`(
        _ isHistoryFirst: Bool
    ) {
        let old = ["1"] + (1...255).map { "old \($0)" } + ["1", "old 7", "old 256", "old 257"]
        let earlier = old.map { "<Entry>\(Self.string("Password", $0))</Entry>\n" }
        let history = "<History>\n\(earlier.joined())</History>"
        let own = Self.string("Title", "a") + Self.string("Password", "1")
        let parts = isHistoryFirst ? history + own : own + history
        let found = read(Self.file("<Group><Entry>\(parts)</Entry></Group>"))
        let lines = (1...256).map { "earlier password: old \($0)" }
        #expect(
            found.items == [
                "2 svce=a → 1",
                "2 desc=notes svce=a (notes) → " + lines.joined(separator: "\n"),
            ])
        // The first one stands in the third line.
        #expect(found.notBrought == [262] && found.error == nil)
    }

    @Test func `groups that are as deep as the limit are read, and deeper ones refused`() {
        func nested(_ depth: Int) -> Found {
            let ends = String(repeating: "</Group>", count: depth)
            return read(Self.file(String(repeating: "<Group>", count: depth) + ends))
        }
        #expect(nested(126) == Found())
        #expect(nested(127) == Found(error: .malformed(line: 2)))
    }

    @Test func `no change of a byte makes more of it than an error or other words`() {
        let bytes = Array(Self.file("<Group>\(Self.entry)</Group>").utf8)
        for position in stride(from: 0, to: bytes.count, by: 3) {
            #expect(read(Array(bytes[..<position])).error != nil || position > bytes.count - 2)
            for other in [UInt8(ascii: "<"), UInt8(ascii: "&")] {
                var changed = bytes
                changed[position] = other
                #expect(read(changed).items.count <= 3)
            }
        }
    }

    @Test func `a CSV of KeePassXC is read as before`() {
        let found = read(
            "\"Group\",\"Title\",\"Username\",\"Password\"\n\"Root\",\"a\",\"me\",\"1\"\n")
        #expect(found.items == ["2 acct=me icmt=Root svce=a → 1"])
        #expect(read("") == Found(error: .unknownColumns))
    }
}
