// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import SecurityTool

@Suite struct Commands {
    @Test func `the beginning of a name finds the first command of the table`() {
        #expect(CommandTable.command("find-gen")?.name == "find-generic-password")
        #expect(CommandTable.command("add")?.name == "add-generic-password")
        #expect(CommandTable.command("item")?.name == "item")
        #expect(CommandTable.command("unlock-keychain")?.name == "unlock-keychain")
        #expect(CommandTable.command("") == nil)
        #expect(CommandTable.command("find-generic-passwords") == nil)
    }

    @Test func `no two commands have one name`() {
        let names = CommandTable.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `a whole name finds its own command`() {
        for command in CommandTable.all {
            #expect(CommandTable.command(command.name)?.name == command.name)
        }
    }

    @Test func `a change of the accessibility is none of the access control`() throws {
        let change = try ItemAttributes(["pdmn=ck"]).change(of: .genericPassword)
        #expect(change.accessible == .afterFirstUnlock)
        #expect(change.accessControl == nil)
    }

    @Test(
        arguments: [
            (.state(.notFound), 44), (.state(.duplicate), 45), (.refused(.wrongPassword), 51),
            (.refused(.authenticationFailed), 51),
            (.refused(.interactionNotAllowed), 36), (.state(.locked), 36),
            (.state(.noSuchKeychain), 50),
            (.state(.duplicateKeychain), 48), (.state(.noDefaultKeychain), 37),
            (.state(.readOnly), 52),
            (.failed(.notAvailable), 53), (.invalid(.noSuchAttribute), 41),
            (.refused(.cancelled), 128), (.invalid(.badRequest), 206),
            (.refused(.notEntitled), 30), (.invalid(.notImplemented), 252),
            (.failed(.inputOutput), 220),
        ] as [(RequestError, Int32)])
    func `an error is the exit status that scripts know`(_ error: RequestError, _ exit: Int32) {
        #expect(CommandFailure(error, "SecKeychainSearchCopyNext").exit == exit)
    }

    @Test func `an error names the historical call and what it was about`() {
        #expect(
            CommandFailure(.state(.notFound), "SecKeychainSearchCopyNext").text
                == "security: SecKeychainSearchCopyNext: The specified item could not be found in "
                + "the keychain.\n")
        #expect(
            CommandFailure(.state(.duplicateKeychain), "SecKeychainCreate", "x").text
                == "security: SecKeychainCreate x: A keychain with the same name already exists.\n")
    }

    @Test(
        arguments: [
            ("work", "work"), ("work.keychain", "work"), ("work.keychain-db", "work"),
            ("/home/me/Library/Keychains/login.keychain-db", "login"), ("System", "system"),
            ("/Library/Keychains/System.keychain", "system"), ("", ""),
        ])
    func `a keychain is its name or a path`(_ typed: String, _ name: String) {
        #expect(KeychainWord(typed).name == name)
    }

    @Test(
        arguments: [
            ("", []), ("a", [0x0A]), ("0A", [0x0A]), ("123", [0x01, 0x23]), ("xx", nil),
        ] as [(String, [UInt8]?)])
    func `digits are padded on the left`(_ text: String, _ bytes: [UInt8]?) {
        #expect(HexDigits.bytes(text) == bytes)
    }

    @Test(
        arguments: [
            ("443", 443), ("x", 0), ("", 0), ("80x", 80), ("99999999999999999999", .max),
        ] as [(String, Int64)])
    func `a port is the number at its beginning`(_ text: String, _ number: Int64) {
        #expect(PasswordMatch.leadingNumber(text) == number)
    }

    @Test func `where the whole primary key is given the rest does not count`() throws {
        let whole = try Options(["-a", "me", "-s", "mail", "-l", "x"], letters: "a:s:l:")
        #expect(
            Set(try PasswordMatch(whole, .genericPassword).query.attributes.keys)
                == [.account, .service])
        let part = try Options(["-s", "mail", "-l", "x"], letters: "a:s:l:")
        #expect(
            Set(try PasswordMatch(part, .genericPassword).query.attributes.keys)
                == [.service, .label])
    }

    @Test func `codes that have no four characters are refused`() throws {
        let options = try Options(["-r", "ftp"], letters: "r:")
        #expect(
            throws: CommandFailure.said(FourCharacters.complaint(about: "ftp"), exit: 1)
        ) { try PasswordMatch(options, .internetPassword) }
    }

    @Test func `identities are numbered and say what is wrong with them`() throws {
        var facts = CertificateFacts(.expired)
        facts.commonName = "Common Name"
        facts.sha1 = Array(repeating: 0xAB, count: 20)
        let hash = String(repeating: "AB", count: 20)
        let policy = try FindIdentity.Policy("basic")
        #expect(
            FindIdentity.text([facts], policy, nil, onlyValid: false) == """

                Policy: X.509 Basic
                  Matching identities
                  1) \(hash) "Common Name" (CSSMERR_TP_CERT_EXPIRED)
                     1 identities found

                  Valid identities only
                     0 valid identities found

                """)
        #expect(
            FindIdentity.text([facts], policy, "x", onlyValid: true) == """
                Looking for identities matching "x"
                     0 valid identities found

                """)
    }
}

@Suite struct WorkerMessages {
    @Test func `questions and facts are read back`() throws {
        var question = CertificateQuestion([[1, 2], []])
        question.issuers = [[3]]
        question.anchors = [[4, 5]]
        question.purpose = .codeSigning
        question.host = "a.example"
        #expect(try CertificateQuestion(question.bytes) == question)
        var facts = CertificateFacts(.notTrusted)
        facts.commonName = "ü"
        facts.emailAddresses = ["a@b.example"]
        facts.sha1 = [1]
        facts.publicKeyHash = [2]
        facts.attributes = [.label: .string("x"), .subject: .data([1]), .type: .number(-1)]
        let list = [facts, CertificateFacts(.valid)]
        #expect(try CertificateFacts.list(CertificateFacts.bytes(of: list)) == list)
    }

    @Test func `objects of a file are read back`() throws {
        let object = ObjectsOfFile.Object(
            .key, [.keyClass: .number(1)], HeldSecret(SecretBytes(copying: [1, 2, 3])))
        let other = ObjectsOfFile.Object(
            .certificate, [:], HeldSecret(SecretBytes(copying: [4])))
        let read = try ObjectsOfFile(ObjectsOfFile(.none, [object, other]).encoded())
        #expect(read.objects.map(\.itemClass) == [.key, .certificate])
        #expect(read.objects[0].attributes == [.keyClass: .number(1)])
        #expect(
            read.objects.map { $0.secret.bytes.releasedFromLockedMemory() } == [[1, 2, 3], [4]])
    }

    @Test func `every cut and every changed byte is read or refused`() throws {
        let object = ObjectsOfFile.Object(
            .key, [.label: .string("x")], HeldSecret(SecretBytes(copying: [1, 2, 3])))
        let whole = ObjectsOfFile(.none, [object]).encoded().releasedFromLockedMemory()
        for length in 0..<whole.count {
            #expect(throws: MalformedBytes.self) {
                try ObjectsOfFile(SecretBytes(copying: Array(whole.prefix(length))))
            }
        }
        for place in whole.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] = value
                _ = try? ObjectsOfFile(SecretBytes(copying: changed))
                _ = try? CertificateQuestion(changed)
                _ = try? CertificateFacts.list(changed)
            }
        }
    }
}
