// SPDX-License-Identifier: Apache-2.0
import KeychainImport
import KeychainModel
import KeychainSecrets
import Testing

@testable import ImportSources

/// What each format's text becomes.
@Suite struct ImportSourcesTests {
    struct Found: Equatable {
        var items: [String] = []
        var leftOut: [Int] = []
        var notBrought: [Int] = []
        var error: ImportError?
    }

    /// Items as `line class name/account {other attributes} = secret`.
    private func read(
        _ format: ImportFormat, _ text: String, name: String = "", piece: Int = 7
    ) -> Found {
        read(format, Array(text.utf8), name: name, piece: piece)
    }

    private func read(
        _ format: ImportFormat, _ bytes: [UInt8], name: String = "", piece: Int = 7
    ) -> Found {
        var rest = bytes[...]
        var found = Found()
        var isFinished = false
        ImportReading(format, name: name).run({
            defer { rest = rest.dropFirst(piece) }
            return SecretBytes(copying: Array(rest.prefix(piece)))
        }) { message in
            switch message {
            case .item(let item): found.items.append(Self.text(item))
            case .leftOut(let line): found.leftOut.append(line)
            case .notBrought(let line): found.notBrought.append(line)
            case .skipped: Issue.record("such a source has no attributed items")
            case .failed(let error): found.error = error
            case .finished: isFinished = true
            }
            return true
        }
        #expect(isFinished != (found.error != nil))
        return found
    }

    private static func text(_ item: ImportedItem) -> String {
        let attributes = item.attributes.sorted { $0.key < $1.key }.map { name, value in
            "\(name.rawValue)=\(String(decoding: value.comparedBytes, as: UTF8.self))"
        }
        let secret = String(
            decoding: item.secret.bytes.releasedFromLockedMemory(), as: UTF8.self)
        return "\(item.line) \(attributes.joined(separator: " ")) → \(secret)"
    }

    // MARK: CSV

    @Test(arguments: [1, 2, 3, 7, 4096])
    func `an export of Chrome becomes internet passwords, however it is cut into pieces`(
        _ piece: Int
    ) {
        let found = read(
            .csv,
            "name,url,username,password,note\r\nGit,https://git.example:8443/login,me,\"a,\"\"b\"\"\n"
                + "c\",two words\n\nempty,https://x.example/,me,,\n", piece: piece)
        #expect(
            found
                == Found(
                    items: [
                        "2 acct=me labl=Git path=/login port=8443 ptcl=htps srvr=git.example → a,\"b\"\nc",
                        "2 acct=me desc=notes svce=Git (notes) → two words",
                    ], leftOut: [5]))
    }

    @Test func `an address that is none becomes a generic password`() {
        let found = read(.csv, "title,url,username,password\nBank,app:bank,me,1\n,,you,2\n")
        #expect(
            found.items == ["2 acct=me icmt=app:bank svce=Bank → 1", "3 acct=you svce=you → 2"])
    }

    @Test func `a column that is not known is kept with the notes, by its name`() {
        let found = read(.csv, "name,password,PIN,notes\na,b,1234,c")
        #expect(found.items == ["2 svce=a → b", "2 desc=notes svce=a (notes) → PIN: 1234\nc"])
    }

    @Test func `a password in an address is no attribute`() {
        let found = read(.csv, "url,username,password\nhttps://u:p%40@h.example/,,\n")
        #expect(found.items == ["2 acct=u ptcl=htps srvr=h.example → p@"])
        let both = read(.csv, "url,username,password\nhttps://u:p@h.example/,me,own\n")
        #expect(
            both.items == [
                "2 acct=me ptcl=htps srvr=h.example → own",
                "2 acct=me desc=notes svce=h.example (notes) → password of the address: p",
            ])
    }

    @Test(arguments: [
        "https://user:pa/ss@host/", "user:pass@host", "user:pa/ss@host", "//user:pass@host/",
        "https:user:pass@host", "https://me@x.example:pa/ss@host/", "https://user:12/ss@host",
        "https://a.example/?next=https://user:pass@host", "https://user%3Apass@host/",
        "https://a.example,https://user:pass@host",
    ])
    func `an address that may have a password in it is kept with the notes`(_ address: String) {
        let found = read(.csv, "name,url,username,password\nWeb,\"\(address)\",me,own\n")
        #expect(
            found
                == Found(items: [
                    "2 acct=me svce=Web → own",
                    "2 acct=me desc=notes svce=Web (notes) → address: \(address)",
                ]))
        let json = read(
            .bitwarden,
            #"{"items":[{"name":"Web","login":{"password":"own","uris":[{"uri":"\#(address)"}]}}]}"#
        )
        #expect(
            json.items == [
                "1 svce=Web → own", "1 desc=notes svce=Web (notes) → address: \(address)",
            ])
    }

    @Test(arguments: ["https://h.example/@me", "git@h.example:me/a.git", "me@h.example"])
    func `an address without a password is shown`(_ address: String) {
        let found = read(.csv, "name,url,password\nWeb,\(address),own\n")
        #expect(found.items.count == 1 && found.notBrought.isEmpty)
    }

    @Test func `a name that has an address with a password in it is refused by its line`() {
        let found = read(.csv, "name,password\nhttps://u:p@h.example,own\nb,c\n")
        #expect(found == Found(items: ["3 svce=b → c"], notBrought: [2]))
        let docker = read(.docker, #"{"auths":{"https://u:p@r.example":{"auth":"bWU6cHc="}}}"#)
        #expect(docker == Found(notBrought: [1]))
        #expect(read(.netrc, "machine u:p@h login me password x") == Found(notBrought: [1]))
    }

    @Test func `an address and a folder are kept, whatever else the entry has`() {
        let found = read(
            .csv, "name,url,password,notes,folder\nBank,app:bank,1,,Money\nNote,app:x,,text,\n")
        #expect(
            found.items == [
                "2 icmt=app:bank (Money) svce=Bank → 1",
                "3 desc=notes icmt=app:x svce=Note (notes) → text",
            ])
        #expect(read(.csv, "name,password\n,x\n").items == ["2 svce=line 2 → x"])
    }

    @Test func `a return in a field is the field's`() {
        let found = read(.csv, "name,password\r\na,b\rc\r\n\r\nd,e\r\r\nf,\rg\r\"\n\"h\"\r\n,i\r")
        #expect(found.error == .wrongColumns(line: 6, found: 1, expected: 2))
        #expect(
            found.items == ["2 svce=a → b\rc", "4 svce=d → e\r", "5 svce=f → \rg\r\""])
        #expect(read(.csv, "name,password\r\na,b\r").items == ["2 svce=a → b\r"])
        #expect(read(.csv, "name,password\r\na,\"b\"\r").items == ["2 svce=a → b"])
        #expect(read(.csv, "name,password\r\na,\"b\"\rc\r\n").error == .openQuote(line: 2))
    }

    @Test func `a byte order mark is not the first column's`() {
        #expect(read(.csv, [0xEF, 0xBB, 0xBF] + Array("name,password\na,b".utf8)).items.count == 1)
        // The same first byte, another character.
        #expect(read(.env, "\u{FF21}=b").items == ["1 acct=\u{FF21} svce=\u{FF21} → b"])
    }

    @Test func `what is wrong is said with its line`() {
        let head = "name,password\n"
        #expect(
            read(.csv, head + "a,b\nc\n").error == .wrongColumns(line: 3, found: 1, expected: 2))
        #expect(read(.csv, head + "a,\"b\nc\n").error == .openQuote(line: 2))
        #expect(read(.csv, head + "a,\"b\"c\n").error == .openQuote(line: 2))
        #expect(read(.csv, Array(head.utf8) + [0x61, 0xE9, 0x2C]).error == .notUTF8(line: 2))
        #expect(read(.csv, Array(head.utf8) + [0x61, 0xC3]).error == .notUTF8(line: 2))
        #expect(read(.csv, Array(head.utf8) + [0x61, 0x00]).error == .zeroByte(line: 2))
        #expect(read(.csv, [0xFF, 0xFE, 0x61, 0x00]).error == .notUTF8(line: 1))
        #expect(read(.csv, "a,b\nc,d\n").error == .unknownColumns)
        #expect(read(.csv, "").error == .unknownColumns)
        let long = head + "a," + String(repeating: "x", count: 5 * 1024 * 1024)
        #expect(read(.csv, long, piece: 65536).error == .tooLong(line: 2))
    }

    @Test func `an error says nothing of what stands there`() {
        #expect("\(ImportError.wrongColumns(line: 3, found: 1, expected: 2))".contains("line: 3"))
    }

    // MARK: Lines

    @Test func `netrc's words are read wherever their lines end`() {
        let found = read(
            .netrc,
            "# first\nmachine a.example login me password \"p \\\"w\"\nmachine B.example\n\tlogin you\n"
                + "  password #x\nmacdef init\ncd machine\n\ndefault login anonymous password any\n"
        )
        #expect(
            found
                == Found(
                    items: [
                        "2 acct=me srvr=a.example → p \"w", "3 acct=you srvr=b.example → #x",
                        "9 acct=anonymous svce=netrc default → any",
                    ], notBrought: [1, 6]))
        #expect(read(.netrc, "machine a\nlogin").error == .malformed(line: 2))
        #expect(read(.netrc, "word").error == .malformed(line: 1))
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a macro of netrc ends at an empty line`(_ end: String) {
        let lines = [
            "machine a login x password 1", "macdef init", "cd machine", "",
            "machine b login y password 2", "",
        ]
        #expect(
            read(.netrc, lines.joined(separator: end))
                == Found(
                    items: ["1 acct=x srvr=a → 1", "5 acct=y srvr=b → 2"], notBrought: [2]))
        let open = lines.filter { !$0.isEmpty }.joined(separator: end)
        #expect(read(.netrc, open).error == .malformed(line: 2))
    }

    @Test func `netrc's account is a secret, and what it says twice is not brought`() {
        let found = read(
            .netrc,
            "machine h login me account \"deep pw\" password x\nmachine i\nlogin a\nlogin b\npassword x\npassword y"
        )
        #expect(
            found
                == Found(
                    items: [
                        "1 acct=me srvr=h → x",
                        "1 acct=me desc=notes svce=h (notes) → account: deep pw",
                        "2 acct=b srvr=i → y",
                    ], notBrought: [4, 6]))
    }

    @Test func `git's lines are addresses with user and password`() {
        let found = read(
            .gitCredentials, "https://me:p%40ss@GitHub.com\nhttp://u:x@h.example:8080/a/b\n\n")
        #expect(
            found.items == [
                "1 acct=me ptcl=htps srvr=github.com → p@ss",
                "2 acct=u path=/a/b port=8080 ptcl=http srvr=h.example → x",
            ])
        #expect(read(.gitCredentials, "\nhttps://h.example/\n").error == .malformed(line: 2))
    }

    @Test func `variables are accounts of what they belong to`() {
        let found = read(
            .env,
            "# no\nexport A=one # two\nB = 'it''s'\nC=\"x\\ny\" # z\nD=\nE=a#b\n", name: "app")
        #expect(found.error == .openQuote(line: 3))
        let fine = read(.env, "export A=one # two\nC=\"x\\ny\" # z\nD=\nE=a#b\n", name: "app")
        #expect(
            fine
                == Found(
                    items: [
                        "1 acct=A svce=app → one", "2 acct=C svce=app → x\ny",
                        "4 acct=E svce=app → a#b",
                    ], leftOut: [3], notBrought: [1, 2]))
        #expect(read(.env, "A=1\nword\n").error == .malformed(line: 2))
        #expect(read(.env, "A=\"1\nB\"").error == .openQuote(line: 1))
    }

    @Test func `a line of an .env file that is no variable is refused`() {
        #expect(read(.env, "A=1\nc2Vj+cmV0=\n").error == .malformed(line: 2))
        #expect(read(.env, "export=1\n", name: "x").items == ["1 acct=export svce=x → 1"])
    }

    @Test func `a password in the address of a repository is no attribute`() {
        let found = read(
            .pypirc,
            "[a]\nrepository = https://u:p@h.example/x\n[b]\nusername = me\npassword = 1\n"
                + "repository = https://u:p@h.example/y\n")
        #expect(
            found
                == Found(items: [
                    "1 acct=u labl=a path=/x ptcl=htps srvr=h.example → p",
                    "3 acct=me labl=b path=/y ptcl=htps srvr=h.example → 1",
                    "3 acct=me desc=notes svce=b (notes) → password of the address: p",
                ]))
    }

    @Test func `what a section has and no item is not brought`() {
        let found = read(
            .aws,
            "# old key\n[default]\naws_access_key_id=AK\nAWS_SECRET_ACCESS_KEY=1\n"
                + "aws_secret_access_key=2\nregion = eu\n  more\nempty =\n[profile]\nrole_arn=x\n")
        #expect(
            found
                == Found(
                    items: ["2 acct=default icmt=AK svce=aws → 2"], leftOut: [9],
                    notBrought: [1, 5, 6, 7, 10]))
        let pip = read(
            .pypirc, "[distutils]\nindex-servers =\n  pypi\n[pypi]\npassword=1\nsign=yes\n")
        #expect(pip.leftOut == [1] && pip.notBrought == [3, 6] && pip.items.count == 1)
    }

    @Test func `notes that are too long are not brought`() {
        let notes = NoteLines(limit: 8)
        notes.add(HeldSecret(SecretBytes(copying: [1, 2, 3, 4])))
        notes.add(HeldSecret(SecretBytes(copying: [1, 2, 3, 4])))
        notes.add(HeldSecret(SecretBytes(copying: [1, 2])), name: "")
        let held = notes.contents?.secret.bytes.count
        #expect(held == 7 && notes.contents?.isWhole == false)
        var entry = ImportEntry(line: 4)
        entry.notes = notes.contents
        guard case .notBrought(line: 4)? = entry.messages.last else {
            Issue.record("it was taken for whole")
            return
        }
        #expect(entry.messages.count == 2)
    }

    @Test func `each secret in the sections of pip's and AWS' files becomes an item`() {
        let pip = read(
            .pypirc,
            "[distutils]\nindex-servers =\n    pypi\n    other\n[pypi]\nusername = __token__\n"
                + "password = t=1\n[other]\nrepository: https://o.example/simple\npassword: 2\n")
        #expect(
            pip.items == [
                "5 acct=__token__ labl=pypi path=/legacy/ ptcl=htps srvr=upload.pypi.org → t=1",
                "8 labl=other path=/simple ptcl=htps srvr=o.example → 2",
            ])
        let aws = read(
            .aws,
            "[default]\naws_access_key_id=AK\naws_secret_access_key=s/k\naws_session_token=t\n")
        #expect(
            aws.items == [
                "1 acct=default icmt=AK svce=aws → s/k",
                "1 acct=default (session token) icmt=AK svce=aws → t",
            ])
        #expect(read(.aws, "a=b\n").error == .malformed(line: 1))
        #expect(read(.aws, "[a\n").error == .malformed(line: 1))
    }

    @Test func `the first line of an entry of pass is its password`() {
        #expect(
            read(.pass, "p w\r\nlogin: me\notpauth://totp/x\nPIN: 1\n", name: "web/a.example").items
                == [
                    "1 acct=me svce=web/a.example → p w",
                    "1 acct=me desc=one-time password svce=web/a.example (one-time password) → "
                        + "otpauth://totp/x",
                    "1 acct=me desc=notes svce=web/a.example (notes) → PIN: 1",
                ])
        #expect(read(.pass, "x", name: "mail/me").items == ["1 acct=me svce=mail → x"])
        #expect(read(.pass, "x", name: "mail").items == ["1 svce=mail → x"])
        #expect(read(.pass, "\n", name: "mail").leftOut == [1])
    }

    // MARK: JSON

    @Test func `each registry of docker's file that has a secret becomes an item`() {
        let found = read(
            .docker,
            #"{"auths":{"https://index.docker.io/v1/":{"auth":"bWU6cDp3AAA="},"#
                + #""r.example:5000":{"auth":"","identitytoken":"tok"}, "x":{}},"credsStore":"y"}"#)
        #expect(
            found.items == [
                "1 acct=me path=/v1/ ptcl=htps srvr=index.docker.io → p:w",
                "1 acct=<token> port=5000 ptcl=htps srvr=r.example → tok",
            ])
        #expect(found.leftOut.count == 1)
        #expect(read(.docker, #"{"auths":{"a":{"auth":"!"}}}"#).error == .malformed(line: 1))
    }

    @Test func `what docker's file has besides is not brought`() {
        let found = read(
            .docker,
            #"""
            {"auths": {"r.example": {"auth": "bWU6cHc=",
              "email": "me@example.org", "password": "other", "registrytoken": null}},
             "credsStore": "",
             "HttpHeaders": {"X": "secret"}}
            """#)
        #expect(found.items.count == 1)
        #expect(found.notBrought.sorted() == [2, 2, 4])
    }

    @Test func `what Bitwarden has and no item is not brought`() {
        let found = read(
            .bitwarden,
            #"""
            {"items": [{"id": "1", "type": 1, "favorite": true, "name": "a",
              "login": {"password": "1", "uris": null,
                "pin": "2"},
              "fields": [{"name": "b", "value": true}],
              "attachments": ["x"], "bankAccount": {"pin":
                "1"}}]}
            """#)
        #expect(found.items == ["1 svce=a → 1"])
        #expect(found.notBrought.sorted() == [3, 4, 5, 5])
    }

    @Test func `a name that an object has twice is no export`() {
        let twice = #"{"auths":{},"auths":{}}"#
        #expect(read(.docker, twice).error == .malformed(line: 1))
    }

    @Test func `Bitwarden's logins become items, and its notes and fields the notes of them`() {
        let found = read(
            .bitwarden,
            #"""
            {"encrypted": false, "folders": [{"id": "1", "name": "Work"}], "items": [
              {"name": "Git", "folderId": "1", "notes": "n\u00e9\ud83d\ude00", "login": {
                "uris": [{"uri": "https://git.example"}, {"uri": "https://b.example"}],
                "username": "me", "password": "p\"w", "totp": null},
               "fields": [{"name": "PIN", "value": "1"}, {"name": "none", "value": null}]},
              {"name": "Card", "card": {"number": "4111", "code": "123"}}]}
            """#)
        #expect(
            found.items == [
                "2 acct=me icmt=Work labl=Git ptcl=htps srvr=git.example → p\"w",
                "2 acct=me desc=notes icmt=Work svce=Git (notes) → address: https://b.example\nné😀\nPIN: 1",
                "6 desc=notes svce=Card (notes) → number: 4111\ncode: 123",
            ])
        #expect(read(.bitwarden, #"{"encrypted":true}"#).error == .encryptedForAccount)
        // No password is asked for where parts are missing.
        #expect(
            read(.bitwarden, #"{"encrypted":true,"passwordProtected":true}"#).error
                == .malformed(line: 1))
        #expect(read(.bitwarden, "{}").error == .malformed(line: 1))
    }

    @Test func `an item of 1Password becomes one for each secret that it has`() {
        let found = read(
            .onePassword,
            #"""
            {"accounts":[{"vaults":[{"attrs":{"name":"Private"},"items":[{"overview":{"title":"Git",
            "url":"https://git.example/"},"details":{"loginFields":[{"value":"me","designation":"username"},
            {"value":"pw","designation":"password"}],"notesPlain":"n","sections":[{"fields":[
            {"title":"code","value":{"totp":"otp"}},{"title":"PIN","value":{"concealed":"1"}}]}]}}]}]}]}
            """#)
        #expect(
            found.items == [
                "1 acct=me icmt=Private labl=Git ptcl=htps srvr=git.example → pw",
                "1 acct=me desc=one-time password icmt=Private svce=Git (one-time password) → otp",
                "1 acct=me desc=notes icmt=Private svce=Git (notes) → n\nPIN: 1",
            ])
    }

    @Test(arguments: [
        "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "\"\\", "\"\n\"", "tru", "1 2", "", "01", "1.",
        "\"\\x\"",
        "{\"auths\":{},\"auths\":{}}", "{\"auths\":{\"a\":{\"password\":\"p\\ud800\"}}}",
        String(repeating: "[", count: 1000),
    ])
    func `what is no JSON is refused`(_ text: String) {
        guard case .malformed? = read(.docker, text).error else {
            Issue.record("\(text) was read")
            return
        }
    }

    @Test func `each entry of a long export is told by the line that it begins in`() {
        let entries = (1...3000).map { "{\n\"name\": \"\($0)\",\n\"notes\": \($0)\n}" }
        let found = read(
            .bitwarden, "{\"items\": [\n\(entries.joined(separator: ",\n"))\n]}", piece: 4096)
        #expect(found.items.count == 3000)
        #expect(found.items.first == "2 desc=notes svce=1 (notes) → 1")
        #expect(found.items.last == "11998 desc=notes svce=3000 (notes) → 3000")
        #expect(read(.docker, "{\"auths\":\n{\"a\":\n01}}").error == .malformed(line: 3))
    }

    @Test func `texts are read without their escapes, and numbers as they are written`() {
        let found = read(
            .docker,
            #"{"auths":{"a.example":{"auth":"bWU6cD\u0038\/"},"b.example":{"password":-1.50e3}}}"#)
        #expect(
            found.items == [
                "1 acct=me ptcl=htps srvr=a.example → p??", "1 ptcl=htps srvr=b.example → -1.50e3",
            ])
    }

    // MARK: Frames

    @Test func `messages come out of the pipe as they went in`() throws {
        let buffer = SecretBuffer(limit: 1 << 20)
        let item = ImportedItem(
            line: 7, itemClass: .internetPassword,
            attributes: [.server: .string("h"), .port: .number(443), .account: .string("ü")],
            secret: HeldSecret(SecretBytes(copying: [0, 1, 255])))
        let messages: [ImportMessage] = [
            .item(item), .leftOut(line: 3), .notBrought(line: 5),
            .failed(.wrongColumns(line: 1, found: 2, expected: 3)), .failed(.tooLarge), .finished,
        ]
        for message in messages { #expect(ImportFrame.append(message, to: buffer)) }
        var position = 0
        var read: [String] = []
        while let message = try ImportFrame.take(from: buffer, at: &position) {
            switch message {
            case .item(let again):
                #expect(again.attributes == item.attributes && again.line == 7)
                #expect(again.itemClass == .internetPassword)
                let isSame = again.secret.bytes.matches(item.secret.bytes)
                #expect(isSame)
                read.append("item")
            case .leftOut(let line): read.append("left \(line)")
            case .notBrought(let line): read.append("not \(line)")
            case .skipped(let name, let why): read.append("skipped \(name) \(why)")
            case .failed(let error): read.append("\(error)")
            case .finished: read.append("end")
            }
        }
        #expect(
            read == [
                "item", "left 3", "not 5", "wrongColumns(line: 1, found: 2, expected: 3)",
                "tooLarge", "end",
            ])
        #expect(position == buffer.count)
    }

    private func append(_ bytes: [UInt8], to buffer: SecretBuffer) {
        let fits = buffer.append(SecretBytes(copying: bytes))
        #expect(fits)
    }

    @Test func `half a message waits, and one that is none is refused`() throws {
        let buffer = SecretBuffer(limit: 1 << 20)
        var position = 0
        append([5, 0, 0, 0, 2, 1], to: buffer)
        let early = try ImportFrame.take(from: buffer, at: &position)
        let isHeldBack = early.map { _ in false } ?? true
        #expect(isHeldBack && position == 0)
        for wrong: [UInt8] in [
            [0, 0, 0, 0], [255, 255, 255, 255], [1, 0, 0, 0, 9], [2, 0, 0, 0, 1, 1],
        ] {
            let buffer = SecretBuffer(limit: 1 << 20)
            var position = 0
            append(wrong, to: buffer)
            do {
                _ = try ImportFrame.take(from: buffer, at: &position)
                Issue.record("\(wrong) was read")
            } catch { #expect(error == .inputOutput) }
        }
    }
}
