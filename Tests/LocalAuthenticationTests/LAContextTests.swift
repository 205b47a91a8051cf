// SPDX-License-Identifier: Apache-2.0
// Chooses the keychain.
import CTestKeychain
import Foundation
import LocalAuthentication
import Security
import Testing

private func item(_ service: String, _ context: LAContext? = nil) -> [String: Any] {
    var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
    ]
    if let context { item[kSecUseAuthenticationContext as String] = context }
    return item
}

private func context(password: String) -> LAContext {
    let context = LAContext()
    context.setCredential(Data(password.utf8), type: .applicationPassword)
    return context
}

@Suite struct ApplicationPasswordItemTests {
    private let service = UUID().uuidString

    init() throws {
        let rights = try #require(
            SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlocked, .applicationPassword, nil))
        var new = item(service, context(password: "right"))
        new[kSecAttrAccessControl as String] = rights
        new[kSecValueData as String] = Data("s3cret".utf8)
        #expect(SecItemAdd(new as CFDictionary, nil) == errSecSuccess)
    }

    private func read(_ context: LAContext?) -> (OSStatus, Data?) {
        var query = item(service, context)
        query[kSecReturnData as String] = true
        query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUIFail
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }

    @Test func `the context's password opens the item`() {
        let (status, data) = read(context(password: "right"))
        #expect(status == errSecSuccess && data == Data("s3cret".utf8))
    }

    @Test func `a wrong password opens nothing, and none is asked for where that is forbidden`() {
        #expect(read(context(password: "wrong")).0 == errSecInteractionNotAllowed)
        #expect(read(context(password: "")).0 == errSecInteractionNotAllowed)
        #expect(read(nil).0 == errSecInteractionNotAllowed)
        #expect(read(LAContext()).0 == errSecInteractionNotAllowed)
    }

    @Test func `a wrong password is taken out of the context, and the right one stays`() {
        let (wrong, right) = (context(password: "wrong"), context(password: "right"))
        #expect(read(wrong).0 == errSecInteractionNotAllowed)
        #expect(!wrong.isCredentialSet(.applicationPassword))
        #expect(read(right).0 == errSecSuccess)
        #expect(right.isCredentialSet(.applicationPassword))
        wrong.setCredential(Data("right".utf8), type: .applicationPassword)
        #expect(read(wrong).0 == errSecSuccess)
    }

    @Test func `where such items are left out, so is one whose password was wrong`() {
        var query = item(service, context(password: "wrong"))
        query[kSecReturnData as String] = true
        query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
    }

    @Test func `a credential that was taken away is gone`() {
        let context = context(password: "right")
        #expect(context.isCredentialSet(.applicationPassword))
        context.setCredential(nil, type: .applicationPassword)
        #expect(!context.isCredentialSet(.applicationPassword))
        #expect(read(context).0 == errSecInteractionNotAllowed)
    }

    @Test func `attributes need no password, as only the secret is under it`() {
        var query = item(service)
        query[kSecReturnAttributes as String] = true
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        #expect((result as? [String: Any])?[kSecAttrService as String] as? String == service)
    }

    @Test func `the item can be deleted, and changed with its password only`() {
        let change = [kSecValueData as String: Data("new".utf8)] as CFDictionary
        var query = item(service)
        query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUIFail
        #expect(SecItemUpdate(query as CFDictionary, change) == errSecInteractionNotAllowed)
        query = item(service, context(password: "right"))
        #expect(SecItemUpdate(query as CFDictionary, change) == errSecSuccess)
        #expect(read(context(password: "right")).1 == Data("new".utf8))
        #expect(SecItemDelete(item(service) as CFDictionary) == errSecSuccess)
    }

    @Test func `an invalidated context proves nothing`() {
        let context = context(password: "right")
        context.invalidate()
        #expect(read(context).0 == errSecAuthFailed)
        #expect(!context.setCredential(Data("right".utf8), type: .applicationPassword))
    }
}

@Suite struct LAContextTests {
    @Test func `a keychain without a password has no owner to be authenticated`() {
        let context = LAContext()
        for policy in [
            LAPolicy.deviceOwnerAuthentication, .deviceOwnerAuthenticationWithBiometrics,
            .deviceOwnerAuthenticationWithCompanion,
        ] {
            var error: NSError?
            #expect(!context.canEvaluatePolicy(policy, error: &error))
            #expect(error?.domain == LAErrorDomain)
            #expect(error?.code == LAError.passcodeNotSet.rawValue)
        }
        #expect(context.biometryType == .none)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test func `evaluating says the same, in both forms`() async {
        let context = LAContext()
        do {
            _ = try await context.evaluatePolicy(
                .deviceOwnerAuthentication, localizedReason: "to test")
            Issue.record("no user was there")
        } catch {
            #expect((error as? LAError)?.code == .passcodeNotSet)
            #expect((error as NSError).code == -5)
        }
        let (success, error) = await withCheckedContinuation { continuation in
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test") {
                continuation.resume(returning: ($0, $1))
            }
        }
        #expect(!success && (error as? LAError)?.code == .passcodeNotSet)
    }

    @Test func `a context that has ended says so`() async {
        let context = LAContext()
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect(error?.code == LAError.invalidContext.rawValue)
        #expect(context.interactionNotAllowed)
    }

    @Test func `a call may be made for its effect alone`() async {
        let context = LAContext()
        context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
        context.invalidate()
        do {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test")
            Issue.record("it has ended")
        } catch { #expect((error as? LAError)?.code == .invalidContext) }
    }

    @Test func `an access control that asks for nothing is met by everybody`() async throws {
        let rights = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        let isMet = try await LAContext().evaluateAccessControl(
            rights, operation: .useItem, localizedReason: "to test")
        #expect(isMet)
    }

    @Test func `a reason is needed`() async throws {
        let rights = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        await #expect(throws: NSError.self) {
            try await LAContext().evaluateAccessControl(
                rights, operation: .useItem, localizedReason: "")
        }
    }

    @Test(arguments: [(-1.0, 0.0), (0, 0), (10, 10), (300, 300), (1e9, 300), (.nan, 0)])
    func `the reuse duration has a bound`(_ set: TimeInterval, _ kept: TimeInterval) {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = set
        #expect(context.touchIDAuthenticationAllowableReuseDuration == kept)
    }

    @Test func `programs may stand in for it in their own tests`() {
        final class Mock: LAContext, @unchecked Sendable {
            override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
                true
            }
            override func evaluatePolicy(
                _ policy: LAPolicy, localizedReason: String,
                reply: @escaping @Sendable (Bool, (any Error)?) -> Void
            ) { reply(false, LAError(.userCancel)) }
        }
        let mock: LAContext = Mock()
        #expect(mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "x") { success, error in
            #expect(!success && (error as? LAError)?.code == LAError.userCancel)
        }
    }

    @Test func `a stand-in may answer to await alone`() async throws {
        final class Mock: LAContext, @unchecked Sendable {
            override func evaluatePolicy(
                _ policy: LAPolicy, localizedReason: String
            ) async throws -> Bool { throw LAError(.userFallback) }
            override func evaluateAccessControl(
                _ accessControl: SecAccessControl, operation: LAAccessControlOperation,
                localizedReason: String
            ) async throws -> Bool { true }
        }
        let mock: LAContext = Mock()
        await #expect(throws: LAError(.userFallback)) {
            try await mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "x")
        }
        let rights = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .userPresence, nil))
        #expect(
            try await mock.evaluateAccessControl(
                rights, operation: .useItem, localizedReason: "x"))
    }

    @Test func `a program's own protocol describes it`() {
        let context: any Authenticating = LAContext()
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect(error?.code == LAError.invalidContext.rawValue)
    }
}

/// As programs write it that put something else in its place.
private protocol Authenticating: AnyObject {
    var biometryType: LABiometryType { get }
    var localizedFallbackTitle: String? { get set }
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void)
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
    func invalidate()
}

extension LAContext: Authenticating {}
