// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainEmbedded

/// Wrong application passwords, in a keychain of this process's own.
@Suite final class ItemThrottleTests: Sendable {
    private let home = NSTemporaryDirectory() + "item-guesses-" + UUID().uuidString
    private let service: EmbeddedKeychain

    init() throws { service = try EmbeddedKeychain(home: home, groups: ["own"]) }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func context(_ password: String) -> AuthenticationContext {
        let context = AuthenticationContext()
        context.applicationPassword = HeldSecret(SecretBytes(copying: Array(password.utf8)))
        return context
    }

    private func add(_ service: String, _ password: String) throws(RequestError) {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string(service)]
        item.accessControl = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .always,
            needsApplicationPassword: true)
        let secret = HeldSecret(SecretBytes(copying: Array("s3cret".utf8)))
        _ = try self.service.send(
            Add(item, secret: secret, returning: []), in: context(password), cancellation: nil)
    }

    private func query(_ service: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .string(service)]
        query.authenticationUI = .fail
        return query
    }

    /// What came of it; nil for the secret.
    private func read(_ service: String, _ password: String) -> RequestError? {
        var query = query(service)
        query.returnFields = .data
        return ask(CopyMatching(query), password)
    }

    private func ask(_ verb: some Verb, _ password: String) -> RequestError? {
        do throws(RequestError) {
            _ = try service.send(verb, in: context(password), cancellation: nil)
            return nil
        } catch { return error }
    }

    @Test func `after three wrong application passwords the right one has to wait`() throws {
        try add("bank", "right")
        try add("shop", "right too")
        for _ in 0..<3 { #expect(read("bank", "wrong") == .refused(.wrongApplicationPassword)) }
        #expect(read("bank", "right") == .refused(.tooManyRequests))
        // Another item's own password says nothing about this one, and is not held up.
        #expect(read("shop", "right too") == nil)
        #expect(read("bank", "right") == .refused(.tooManyRequests))
    }

    @Test func `the right one in time makes up for the wrong ones`() throws {
        try add("bank", "right")
        for _ in 0..<3 {
            for _ in 0..<2 { #expect(read("bank", "wrong") == .refused(.wrongApplicationPassword)) }
            #expect(read("bank", "right") == nil)
        }
    }

    @Test func `a change that opens the old secret is a guess like any other`() throws {
        try add("bank", "right")
        var change = ItemChange()
        change.attributes = [.comment: .string("changed")]
        for _ in 0..<3 {
            let said = ask(Update(query("bank"), change, secret: nil), "wrong")
            #expect(said == .refused(.wrongApplicationPassword))
        }
        #expect(
            ask(Update(query("bank"), change, secret: nil), "right") == .refused(.tooManyRequests))
        #expect(read("bank", "right") == .refused(.tooManyRequests))
    }

    @Test func `many guesses at once are no more than one after the other`() throws {
        try add("bank", "right")
        let heard = Mutex<[RequestError?]>([])
        let ended = DispatchGroup()
        // Each derives its key first, one after the other: of many more the pause of the third would be
        // over for the last.
        for _ in 0..<6 {
            ended.enter()
            Thread { [self] in
                let said = read("bank", "wrong")
                heard.withLock { $0.append(said) }
                ended.leave()
            }.start()
        }
        ended.wait()
        let wrong = heard.withLock { $0.filter { $0 == .refused(.wrongApplicationPassword) }.count }
        #expect(wrong == 3)
        #expect(heard.withLock { $0.filter { $0 == .refused(.tooManyRequests) }.count } == 3)
    }

    @Test func `many right ones at once are all answered`() throws {
        try add("bank", "right")
        let refused = Mutex(0)
        let ended = DispatchGroup()
        for _ in 0..<8 {
            ended.enter()
            Thread { [self] in
                if read("bank", "right") != nil { refused.withLock { $0 += 1 } }
                ended.leave()
            }.start()
        }
        ended.wait()
        #expect(refused.withLock { $0 } == 0)
    }

    @Test func `a wrong password leaves the context, and the call is one without`() throws {
        try add("bank", "right")
        let context = context("wrong")
        var query = query("bank")
        query.returnFields = .data
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try service.send(CopyMatching(query), in: context)
        }
        #expect(context.applicationPassword == nil)
        let right = self.context("right")
        #expect(try service.send(CopyMatching(query), in: right).count == 1)
        #expect(right.applicationPassword != nil)
    }
}
