// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainKernelKeyring
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Testing

/// What a search may have without a question.
@Suite(
    .enabled(
        if: KernelKeyring.isAvailable() && getuid() == 0,
        "tickets are root's keys in the kernel's keyring"))
struct SecretsOfAllTests {
    private static let presence = ItemAccessControl(
        protection: .whenUnlocked,
        operations: [.decrypt: .userPresence, .encrypt: .always, .delete: .always],
        defaultOperation: nil, needsApplicationPassword: false)
    private static let withPassword = ItemAccessControl(
        protection: .whenUnlocked, operations: [:], defaultOperation: .always,
        needsApplicationPassword: true)

    private func context(_ password: String) -> AuthenticationContext {
        let context = AuthenticationContext()
        context.applicationPassword = HeldSecret(SecretBytes(copying: Array(password.utf8)))
        return context
    }

    private func count(
        _ login: OpenLogin, _ query: ItemQuery, _ context: AuthenticationContext? = nil
    ) throws(RequestError) -> Int {
        try login.ask(CopyMatching(query), login.client(context)).count
    }

    // MARK: The secrets of all passwords

    @Test func `the secrets of all are given where nothing has to be asked`() throws {
        let login = try OpenLogin()
        try login.fill(3)
        #expect(try count(login, OpenLogin.query(.data)) == 3)
        #expect(login.authenticator.questions == 0)
    }

    @Test(arguments: [true, false])
    func `they are refused, without a question, where one of them needs a proof`(
        _ isThere: Bool
    ) throws {
        let login = try OpenLogin()
        try login.fill(1, rights: Self.presence)
        try add("plain", to: login)
        if !isThere { login.authenticator.leave() }
        for ui in [ItemQuery.AuthenticationUI.allow, .fail] {
            let query = OpenLogin.query([.data, .attributes], ui: ui)
            #expect(throws: RequestError.invalid(.needsProofOfEach)) { try count(login, query) }
        }
        #expect(login.authenticator.questions == 0)
        #expect(try count(login, OpenLogin.query(.data, ui: .skip)) == 1)
    }

    @Test func `a number of them is asked for at once, as before`() throws {
        let login = try OpenLogin()
        try login.fill(2, rights: Self.presence)
        #expect(throws: RequestError.refused(.cancelled)) {
            try count(login, OpenLogin.query(.data, limit: 5))
        }
        #expect(login.authenticator.questions == 1)
    }

    @Test func `of keys all are asked for at once, as before`() throws {
        let login = try OpenLogin()
        var key = NewItem(.key)
        key.accessControl = Self.presence
        try login.ask(
            Add(key, secret: HeldSecret(SecretBytes(random: 9)), returning: []))
        var query = ItemQuery(.key)
        query.returnFields = .data
        query.limit = nil
        #expect(throws: RequestError.refused(.cancelled)) { try count(login, query) }
    }

    @Test func `an application password that lies ready is a proof that was given before`() throws {
        let login = try OpenLogin()
        try login.fill(2, rights: Self.withPassword, login.client(context("app")))
        #expect(throws: RequestError.invalid(.needsProofOfEach)) {
            try count(login, OpenLogin.query(.data))
        }
        #expect(try count(login, OpenLogin.query(.data), context("app")) == 2)
        #expect(login.authenticator.questions == 0)
    }

    // MARK: Leaving out what would be asked for

    @Test func `an item whose application password lies ready is not left out`() throws {
        let login = try OpenLogin()
        try login.fill(1, rights: Self.withPassword, login.client(context("app")))
        try add("plain", to: login)
        for limit in [nil, 2] as [Int?] {
            let query = OpenLogin.query(.data, limit: limit, ui: .skip)
            #expect(try count(login, query, context("app")) == 2)
            #expect(try count(login, query, context("wrong")) == 1)
            #expect(try count(login, query) == 1)
        }
        #expect(login.authenticator.questions == 0)
    }

    // MARK: None at all

    @Test(arguments: [ItemQuery.AuthenticationUI.allow, .fail, .skip])
    func `a limit of nothing finds nothing`(_ ui: ItemQuery.AuthenticationUI) throws {
        let login = try OpenLogin()
        try login.fill(2)
        for parts in [ReturnFields.data, .attributes, []] {
            let query = OpenLogin.query(parts, limit: 0, ui: ui)
            #expect(throws: RequestError.state(.notFound)) { try count(login, query) }
        }
    }

    private func add(_ account: String, to login: OpenLogin) throws {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("mail"), .account: .string(account)]
        try login.ask(
            Add(item, secret: HeldSecret(SecretBytes(random: 6)), returning: []))
    }
}
