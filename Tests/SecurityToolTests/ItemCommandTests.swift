// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import SecurityTool

@Suite struct ItemCommands {
    @Test(
        arguments: [
            (["-q", "class=genp"], .skip), (["-q", "class=genp,u_AuthUI=u_AuthUIA"], .allow),
            (["-D", "-q", "class=genp"], .allow),
            (["-D", "-q", "class=genp,u_AuthUI=u_AuthUIS"], .skip),
            (["-u", "icmt=x", "-q", "class=genp"], .allow),
        ] as [([String], ItemQuery.AuthenticationUI)])
    func `a search leaves out what would have to be asked for, and a change asks`(
        _ words: [String], _ ui: ItemQuery.AuthenticationUI
    ) {
        let keychain = AskedKeychain()
        _ = keychain.run(["item"] + words)
        #expect(keychain.queries.map(\.authenticationUI) == [ui])
    }

    @Test func `a comma parts the values of an option and belongs to a word's`() {
        let keychain = AskedKeychain()
        _ = keychain.run(["item", "-q", "class=genp,acct=me", "svce=a,b"])
        #expect(
            keychain.queries.map(\.attributes)
                == [[.account: .string("me"), .service: .string("a,b")]])
    }

    @Test(
        arguments: [
            ("type=42", .type, .number(42)), ("type=-1", .type, .number(-1)),
            ("type=2147483678", .type, .string("2147483678")),
            ("type=0443", .type, .string("0443")), ("type=+1", .type, .string("+1")),
            ("klbl=cafe", .applicationLabel, .data(Array("cafe".utf8))),
            ("klbl=0xcafe", .applicationLabel, .data([0xCA, 0xFE])),
            ("klbl=0xno", .applicationLabel, .data(Array("0xno".utf8))),
        ] as [(String, AttributeName, AttributeValue)])
    func `a value is converted as the library does it`(
        _ pair: String, _ name: AttributeName, _ value: AttributeValue
    ) throws {
        let query = try ItemAttributes(["class=keys", pair]).query(reference: nil)
        #expect(query.attributes == [name: value])
    }
}
