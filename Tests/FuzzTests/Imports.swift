// SPDX-License-Identifier: Apache-2.0
import ImportSources
import KeychainImport
import KeychainSecrets

/// Files of other password stores, and what their reader tells keychainctl through a pipe. The first
/// byte of an input says which.
enum Imports {
    private static let formats = ImportFormat.allCases

    static func read(_ bytes: [UInt8]) throws -> Bool {
        guard let first = bytes.first else { return false }
        let content = Array(bytes.dropFirst())
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
        ImportReading(format, name: "entry/me").run({
            defer { rest = rest.dropFirst(piece) }
            return SecretBytes(copying: Array(rest.prefix(piece)))
        }) { message in
            found.append(message)
            return true
        }
        return found
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
        formats.enumerated().map { [UInt8($0)] + Array(text(of: $1).utf8) } + [
            // Of the pipe: an item, an error with its numbers, the end.
            [255, 19, 0, 0, 0, 1, 7, 0, 0, 0, 0]
                + Array("acct".utf8) + [1, 0, 0, 0, 0x75, 0, 0, 0, 0]
                + [1, 0, 0, 0, 4]
        ]

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
        case .keepass:
            "<?xml version=\"1.0\"?><KeePassFile><Root><Group><Name>g</Name><Entry>"
                + "<String><Key>Title</Key><Value>t</Value></String>"
                + "<String><Key>Password</Key><Value>p&#65;&amp;</Value></String>"
                + "</Entry></Group></Root></KeePassFile>"
        }
    }
}
