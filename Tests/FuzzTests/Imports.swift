// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImportSources
import KeychainImport
import KeychainSecrets

/// Files of other password stores, and what their reader tells keychainctl through a pipe. The first
/// byte of an input says which.
enum Imports {
    private static let formats = ImportFormat.allCases
    /// What is in sources with a password, past it.
    private static let opened: [UInt8: ImportFormat] = [200: .bitwarden, 201: .gnomeKeyring]
    private static let password = HeldSecret(SecretBytes(copying: Array("pass wörd".utf8)))

    static func read(_ bytes: [UInt8]) throws -> Bool {
        guard let first = bytes.first else { return false }
        let content = Array(bytes.dropFirst())
        if let format = opened[first] { return try readOpened(format, content) }
        guard Int(first) < formats.count else { return try readFrames(content) }
        let format = formats[Int(first)]
        let found = messages(format, content, piece: content.count)
        let told = try piped(found)
        try require(
            try piped(messages(format, content, piece: 3)) == told,
            "what is read depends on the pieces in which it comes")
        try require(
            try piped(try taken(told)) == told, "the pipe gives what was not put into it")
        guard case .finished? = found.last else { return false }
        return true
    }

    private static func messages(
        _ format: ImportFormat, _ content: [UInt8], piece: Int
    ) -> [ImportMessage] {
        var rest = content[...]
        var found: [ImportMessage] = []
        ImportReading(format, name: "entry/me", password: held(format)).run({
            defer { rest = rest.dropFirst(piece) }
            return SecretBytes(copying: Array(rest.prefix(piece)))
        }) { message in
            found.append(message)
            return true
        }
        return found
    }

    /// Keyrings take a key of a million rounds at most, Bitwarden's exports one of ten: of those what is
    /// behind the password is read by itself.
    private static func held(_ format: ImportFormat) -> HeldSecret? {
        format == .gnomeKeyring ? password : nil
    }

    private static func readOpened(_ format: ImportFormat, _ content: [UInt8]) throws -> Bool {
        var found: [ImportMessage] = []
        ImportReading.runOpened(format, SecretBytes(copying: content)) { message in
            found.append(message)
            return true
        }
        let told = try piped(found)
        try require(
            try piped(try taken(told)) == told, "the pipe gives what was not put into it")
        guard case .finished? = found.last else { return false }
        return true
    }

    private static func readFrames(_ content: [UInt8]) throws -> Bool {
        guard let found = try? taken(content) else { return false }
        let told = try piped(found)
        try require(try piped(try taken(told)) == told, "a message is written differently")
        return !found.isEmpty
    }

    /// As they go through the pipe.
    private static func piped(_ messages: [ImportMessage]) throws -> [UInt8] {
        let pipe = SecretBuffer(limit: ImportFrame.longest)
        for message in messages {
            try require(ImportFrame.append(message, to: pipe), "the pipe has no room")
        }
        return pipe.part(0..<pipe.count).releasedFromLockedMemory()
    }

    private static func taken(_ bytes: [UInt8]) throws -> [ImportMessage] {
        let pipe = SecretBuffer(limit: bytes.count)
        _ = pipe.append(SecretBytes(copying: bytes))
        var (position, messages) = (0, [] as [ImportMessage])
        while let message = try ImportFrame.take(from: pipe, at: &position) {
            messages.append(message)
        }
        return messages
    }

    static let seeds: [[UInt8]] =
        texts + frames + [
            [200] + Array(text(of: .bitwarden).utf8),
            keyringItem,
            [12] + keyring,
        ]

    private static let texts: [[UInt8]] = formats.enumerated().compactMap { number, format in
        format == .secretService ? nil : [UInt8(number)] + Array(text(of: format).utf8)
    }

    /// Of the pipe: an item, an error with its numbers, the end; an attributed one, one that is skipped.
    private static let frames: [[UInt8]] = [
        [
            255, 23, 0, 0, 0, 1, 7, 0, 0, 0, 0, 4, 0, 0, 0, 0x61, 0x63, 0x63, 0x74, 1, 0, 0, 0,
            0x75,
            0, 0, 0, 0, 1, 0, 0, 0, 4,
        ],
        [
            255, 25, 0, 0, 0, 1, 7, 0, 0, 0, 2, 6, 0, 0, 0, 0x70, 0x61, 0x69, 0x72, 0x3A, 0x61, 1,
            0,
            0, 0, 0x75, 0, 0, 0, 0, 3, 0, 0, 0, 6, 1, 0x6C, 1, 0, 0, 0, 4,
        ],
    ]

    /// The encrypted part of a keyring: one item with a text, a number and a program.
    private static let keyringItem: [UInt8] = [
        201, 0, 0, 0, 1, 0, 0, 0, 1, 0x6C, 0, 0, 0, 1, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
        0, 0, 0, 1, 0x61, 0, 0, 0, 0, 0, 0, 0, 1, 0x62, 0, 0, 0, 1, 0x63, 0, 0, 0, 1, 0, 0, 0, 7,
        0, 0, 0, 1, 0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0,
        0,
    ]

    /// gnome-keyring 42.1 made it, with the password above.
    private static let keyring: [UInt8] = Array(
        Data(
            base64Encoded: """
                R25vbWVLZXlyaW5nCg0ACgAAAAAAAAAFTG9naW4AAAAAawP2ewAAAAAAAAAAAAAAAAAAAAAAAAvKVDzmtZxp\
                eeMAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAIAAAACAAAAAQAAAAp4ZGc6c2NoZW1hAAAAAAAAACBmMWIwYTU5\
                NDlhMGFkN2E2MTYyZWI1ZmRjZTU0M2E0MAAAAAEAAAAAAAAAAgAAAAR1c2VyAAAAAAAAACBhYjg2YTFlMWVm\
                NzBkZmY5Nzk1OTA2N2I3MjNjNWMyNAAAAAp4ZGc6c2NoZW1hAAAAAAAAACAxZmNiMDNlMmQzZmY1NGFjZWM4\
                MzgzZTZjMTI3NWJhYwAAAPBSG4VKAHvwLG3O2du+KTY7ZB0CMHyX+uuZF3fdss8kjxX1njJUhq3EbymJpMxz\
                pJH/WtQA/5xUR/UVFEnr7jK0C84FTh/ZbMPeXUzCb3/8lUDtR1ADQc/8O26FoHiNZt52a1396YGpcOFaI7UG\
                QzUPcfcI4Sd7P+ZHoX427AjHpBc+RHTNLX/skI2WyZLjaEUMgS6vkM0sm3hzim3TiQwtxwOC0lvTpZpBh3NO\
                w6JnI3jTAVQ1zSwZB0Zsm8xMfGqmBmD6aUpNZFMH/6xShuelqQ9RdJ3nLHagD/6swgKtf9It2BRUOu+CSd4+\
                a4/0014=
                """)!)

    private static func text(of format: ImportFormat) -> String {
        switch format {
        case .csv: "name,url,username,password\nn,https://a.example/,u,\"p\"\"q\"\n"
        case .netrc: "machine a.example login u password p\ndefault login v password q\n"
        case .gitCredentials: "https://u:p%40q@a.example/path\n"
        case .pass, .gopass: "p\nlogin: u\notpauth://totp/a?secret=B\nnote\n"
        case .docker: #"{"auths":{"https://a.example/v1/":{"auth":"dTpw"}}}"#
        case .pypirc: "[distutils]\nindex-servers = a\n[a]\nusername = u\npassword = p\n"
        case .aws: "[a]\naws_access_key_id = A\naws_secret_access_key = s\n"
        case .env: "export TOKEN='t' # a comment\nB=\"c\\n\"\n"
        case .bitwarden:
            #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"type":1,"name":"n","#
                + #""folderId":"f","notes":"o","fields":[{"name":"x","value":"y","type":1}],"#
                + #""login":{"uris":[{"uri":"https://a.example"}],"username":"u","password":"p"}}]}"#
        case .onePassword:
            #"{"accounts":[{"vaults":[{"items":[{"overview":{"title":"t","url":"https://a"},"#
                + #""details":{"loginFields":[{"designation":"password","value":"p"}],"sections":[]}"#
                + "}]}]}]}"
        case .gnomeKeyring:
            "[keyring]\ndisplay-name=k\n\n[1]\nitem-type=1\ndisplay-name=l\nsecret=s\nmtime=9\n"
                + "ctime=9\n\n[1:attribute0]\nname=user\ntype=string\nvalue=me\n"
        case .secretService: ""
        case .keepass:
            "<?xml version=\"1.0\"?><KeePassFile><Root><Group><Name>g</Name><Entry>"
                + "<String><Key>Title</Key><Value>t</Value></String>"
                + "<String><Key>Password</Key><Value>p&#65;&amp;</Value></String>"
                + "</Entry></Group></Root></KeePassFile>"
        }
    }
}
