// SPDX-License-Identifier: Apache-2.0
import KeychainImport
import KeychainModel
import KeychainSecrets
import Testing

@testable import ImportSources

/// Keyring files of GNOME's. gnome-keyring 42.1 made the encrypted one, with the password below.
@Suite struct KeyringTests {
    private static let password = "pass wörd"
    private static let digits = """
        R25vbWVLZXlyaW5nCg0ACgAAAAAAAAAFTG9naW4AAAAAawP2ewAAAAAAAAAAAAAAAAAAAAAAAAvKVDzmtZxp
        eeMAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAIAAAACAAAAAQAAAAp4ZGc6c2NoZW1hAAAAAAAAACBmMWIwYTU5
        NDlhMGFkN2E2MTYyZWI1ZmRjZTU0M2E0MAAAAAEAAAAAAAAAAgAAAAR1c2VyAAAAAAAAACBhYjg2YTFlMWVm
        NzBkZmY5Nzk1OTA2N2I3MjNjNWMyNAAAAAp4ZGc6c2NoZW1hAAAAAAAAACAxZmNiMDNlMmQzZmY1NGFjZWM4
        MzgzZTZjMTI3NWJhYwAAAPBSG4VKAHvwLG3O2du+KTY7ZB0CMHyX+uuZF3fdss8kjxX1njJUhq3EbymJpMxz
        pJH/WtQA/5xUR/UVFEnr7jK0C84FTh/ZbMPeXUzCb3/8lUDtR1ADQc/8O26FoHiNZt52a1396YGpcOFaI7UG
        QzUPcfcI4Sd7P+ZHoX427AjHpBc+RHTNLX/skI2WyZLjaEUMgS6vkM0sm3hzim3TiQwtxwOC0lvTpZpBh3NO
        w6JnI3jTAVQ1zSwZB0Zsm8xMfGqmBmD6aUpNZFMH/6xShuelqQ9RdJ3nLHagD/6swgKtf9It2BRUOu+CSd4+
        a4/0014=
        """

    private static let file: [UInt8] = {
        let text = SecretBuffer(limit: digits.utf8.count)
        _ = text.append(digits.filter { !$0.isWhitespace })
        let decoded = Base64.decoded(text, 0..<text.count)!
        return (0..<decoded.count).map { decoded.byte($0) }
    }()

    /// Where its parts begin: what follows is the number of rounds, of items, and of encrypted bytes.
    private static let rounds = 16 + 4 + 9 + 16 + 8
    private static let count = rounds + 4 + 8 + 16
    private static let length = file.count - 240 - 4

    private struct Found: Equatable {
        var items: [String] = []
        var skipped: [String] = []
        var error: ImportError?
    }

    private func read(_ bytes: [UInt8], password: String? = Self.password) -> Found {
        var rest = bytes[...]
        let held = password.map { HeldSecret(SecretBytes(copying: Array($0.utf8))) }
        return found {
            ImportReading(.gnomeKeyring, name: "", password: held).run(
                {
                    defer { rest = rest.dropFirst(7) }
                    return SecretBytes(copying: Array(rest.prefix(7)))
                }, $0)
        }
    }

    private func found(_ body: ((ImportMessage) -> Bool) -> Void) -> Found {
        var found = Found()
        body { message in
            switch message {
            case .item(let item):
                let attributes = item.attributes.sorted { $0.key < $1.key }.map { name, value in
                    if case .date(let date) = value { return "\(name.rawValue)=\(Int(date))" }
                    return "\(name.rawValue)="
                        + String(decoding: value.comparedBytes, as: UTF8.self)
                }
                let secret = item.secret.bytes.releasedFromLockedMemory()
                found.items.append("\(item.line) \(attributes) → \(secret)")
            case .skipped(let name, let reason): found.skipped.append("\(name): \(reason)")
            case .failed(let error): found.error = error
            case .leftOut, .notBrought, .finished: break
            }
            return true
        }
        return found
    }

    private static let whole = Found(items: [
        "1 [\"cdat=817114620\", \"labl=Note\", \"mdat=817114620\", \"mime=text/plain\","
            + " \"pair:xdg:schema=org.gnome.keyring.Note\"] → [0, 255]",
        "2 [\"cdat=817114620\", \"labl=Läbel\", \"mdat=817114620\", \"mime=text/plain\","
            + " \"pair:user=me\", \"pair:xdg:schema=org.example.Mail\"]"
            + " → \(Array("wörd\n".utf8))",
    ])

    @Test func `items come with label, attributes, type, dates and every byte of the secret`() {
        #expect(read(Self.file) == Self.whole)
    }

    @Test func `without its password it says that it has one, and another opens nothing`() {
        #expect(read(Self.file, password: nil) == Found(error: .encryptedByPassword))
        for other in ["", "pass word", "pass wörd "] {
            #expect(read(Self.file, password: other) == Found(error: .wrongPassword))
        }
    }

    @Test func `a file that was cut off is not read in part`() {
        for end in 1..<Self.file.count {
            let found = read(Array(Self.file[..<end]))
            #expect(found.items.isEmpty && found.error != nil)
        }
        #expect(read(Self.file + [0]) == Found(error: .damaged))
    }

    @Test func `no changed byte gives another item than was kept`() {
        for position in stride(from: 0, to: Self.file.count, by: 3) {
            var bytes = Self.file
            bytes[position] ^= 0x10
            let found = read(bytes)
            // Name, dates and digests of the keyring are not looked at; the types are in clear.
            #expect(found.error != nil || found.items.count == 2)
            if position >= Self.length + 4 { #expect(found == Found(error: .wrongPassword)) }
        }
    }

    private func changed(_ position: Int, _ number: UInt32) -> [UInt8] {
        var bytes = Self.file
        for place in 0..<4 {
            bytes[position + place] = UInt8(truncatingIfNeeded: number >> (24 - 8 * place))
        }
        return bytes
    }

    @Test func `rounds that would take long are not begun, nor a cipher that is not known`() {
        for rounds in [0, 1_000_001, UInt32.max] {
            #expect(read(changed(Self.rounds, rounds)) == Found(error: .unsupportedKey))
        }
        #expect(read(changed(16, 0x0000_0100)) == Found(error: .unsupportedKey))
    }

    @Test func `what is in clear is looked at before a password is worth asking for`() {
        for (position, number) in [
            (Self.count, 100_001), (Self.count, UInt32.max), (Self.count, 3), (Self.count, 1),
            (Self.length, UInt32.max), (Self.length, 241), (Self.length, 224), (Self.length, 0),
        ] {
            let found = read(changed(position, number), password: nil)
            #expect(found.error == .damaged || found.error == .tooLarge)
        }
    }

    // MARK: What is encrypted

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: UInt32(value) >> (24 - 8 * $0)) }
    }

    private static func text(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

    private static func item(
        label: [UInt8] = Array("l".utf8), attributes: [[UInt8]] = [], count: Int? = nil
    ) -> [UInt8] {
        let none = number(-1 & 0xFFFF_FFFF)
        return text(label) + none + [UInt8](repeating: 0, count: 16) + none
            + [UInt8](repeating: 0, count: 16) + number(count ?? attributes.count)
            + attributes.joined() + number(1) + number(7) + none + none + none + number(0)
    }

    private func readOpened(_ bytes: [UInt8]) -> Found {
        found { ImportReading.runOpened(.gnomeKeyring, SecretBytes(copying: bytes), $0) }
    }

    @Test func `numbers become texts, and what the keyring kept for itself stays there`() {
        let attributes = [
            Self.text(Array("port".utf8)) + Self.number(1) + Self.number(993),
            Self.text(Array("gkr:compat:hashed:port".utf8)) + Self.number(0) + Self.text([0x31]),
        ]
        let found = readOpened(Self.number(1) + Self.item(attributes: attributes))
        #expect(
            found
                == Found(items: [
                    "1 [\"labl=l\", \"mime=text/plain\", \"pair:port=993\","
                        + " \"pair:xdg:schema=org.gnome.keyring.NetworkPassword\"] → []"
                ]))
    }

    @Test func `what is no text on a bus is left where it is, and named`() {
        let attribute = Self.text([0xFF]) + Self.number(0) + Self.text([0x31])
        let zero = Self.text([0x61]) + Self.number(0) + Self.text([0x31, 0])
        let items =
            Self.item(attributes: [attribute]) + Self.item(attributes: [zero])
            + Self.item(label: [0xC3])
        #expect(
            readOpened(Self.number(3) + items)
                == Found(skipped: ["l: notText", "l: notText", "item 3: notText"]))
    }

    @Test func `more than an item may have is left where it is, and named`() {
        let attributes = (0..<65).map {
            Self.text(Array("a\($0)".utf8)) + Self.number(0) + Self.text([])
        }
        #expect(
            readOpened(Self.number(1) + Self.item(attributes: attributes))
                == Found(skipped: ["l: tooLarge"]))
    }

    @Test func `more attributes than any item has are damage`() {
        #expect(
            readOpened(Self.number(1) + Self.item(count: 1025)) == Found(error: .damaged))
    }

    // MARK: Plain text

    private static let plain = """
        [keyring]
        display-name=Plain
        lock-on-idle=false

        [2]
        item-type=1
        display-name=\\sL\\\\ä\\n
        secret= two
        [lines]

        and=more
        mtime=978307260
        ctime=978307201

        [2:attribute0]
        name=user
        type=string
        value=me

        [2:attribute1]
        name=xdg:schema
        type=string
        value=org.example.Mail

        [2:acl0]
        display-name=x
        path=/usr/bin/x

        [5]
        item-type=2
        display-name=
        binary-secret=00fF
        """

    @Test func `a keyring without a password is read as text, and its secrets as they are`() {
        #expect(
            read(Array(Self.plain.utf8), password: nil)
                == Found(items: [
                    "1 [\"cdat=1\", \"labl= L\\\\ä\\n\", \"mdat=60\", \"mime=text/plain\","
                        + " \"pair:user=me\", \"pair:xdg:schema=org.example.Mail\"]"
                        + " → \(Array(" two\n[lines]\n\nand=more".utf8))",
                    "2 [\"labl=\", \"mime=text/plain\","
                        + " \"pair:xdg:schema=org.gnome.keyring.Note\"] → [0, 255]",
                ]))
    }

    @Test(arguments: [
        ("", 1), ("x", 1), ("a=b", 1), ("[keyring]\nx", 2), ("[1]\nbinary-secret=0", 2),
        ("[1]\nbinary-secret=0x", 2), ("[1]\ndisplay-name=\\q", 2), ("[1]\ndisplay-name=\\", 2),
    ])
    func `text that is no keyring is none`(_ text: String, _ line: Int) {
        #expect(read(Array(text.utf8)) == Found(error: .malformed(line: line)))
    }

    @Test func `an attribute of no item is damage, and one without a name no text`() {
        #expect(read(Array("[1:attribute0]\nname=a\nvalue=b".utf8)) == Found(error: .damaged))
        let text = "[1]\ndisplay-name=n\n[1:attribute0]\nvalue=b"
        #expect(read(Array(text.utf8)) == Found(skipped: ["n: notText"]))
    }

    @Test func `a text of another encoding and one with zeros are refused by their lines`() {
        #expect(read(Array("[1]\n".utf8) + [0xE4]) == Found(error: .notUTF8(line: 2)))
        #expect(read(Array("[1]\n\n".utf8) + [0]) == Found(error: .zeroByte(line: 3)))
    }
}

/// The pipe between the reader and keychainctl.
@Suite struct ImportFrameTests {
    @Test func `an attributed item goes through the pipe as it is, and so does what is skipped`()
        throws
    {
        var item = AttributedItem(
            number: 7, secret: HeldSecret(SecretBytes(copying: [0, 255])))
        item.label = "Läbel"
        item.pairs = [
            .pair("e\u{301}"): .string("1"), .pair("é"): .string("2"), .pair(""): .string(""),
        ]
        item.take(type: "org.example.X")
        (item.created, item.modified) = (1, 1_700_000_000)
        let pipe = SecretBuffer(limit: ImportFrame.longest)
        let long = String(repeating: "ä", count: 2000)
        let collection = ImportMessage.skipping("collection " + long, .locked)
        for message in [item.message, item.skipped(.notGiven), collection] {
            #expect(ImportFrame.append(message, to: pipe))
        }
        var position = 0
        guard case .item(let taken)? = try ImportFrame.take(from: pipe, at: &position),
            case .skipped("Läbel", .notGiven)? = try ImportFrame.take(from: pipe, at: &position),
            case .skipped(let name, .locked)? = try ImportFrame.take(from: pipe, at: &position),
            case .item(let given) = item.message
        else {
            Issue.record("something else came out")
            return
        }
        #expect(taken.attributes == given.attributes && taken.attributes.pairs.count == 4)
        #expect(name.hasPrefix("collection ä") && name.utf8.count <= 200)
        #expect(taken.line == 7 && taken.itemClass == .attributed)
        #expect(taken.secret.bytes.releasedFromLockedMemory() == [0, 255])
    }

    @Test func `an attribute that the class has not is refused`() {
        let frame: [UInt8] =
            [22, 0, 0, 0, 1, 1, 0, 0, 0, 2, 4, 0, 0, 0] + Array("svce".utf8)
            + [0, 0, 0, 0, 0, 0, 0, 0]
        let pipe = SecretBuffer(limit: frame.count)
        _ = pipe.append(SecretBytes(copying: frame))
        var position = 0
        #expect(throws: ImportError.inputOutput) {
            _ = try ImportFrame.take(from: pipe, at: &position)
        }
    }
}
