// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import Security

@Suite struct QueryParametersTests {
    @Test(
        arguments: [
            (nil, true, .fail), ("u_AuthUIA", true, .fail), ("u_AuthUIF", false, .fail),
            ("u_AuthUIS", true, .skip), ("u_AuthUIA", false, .allow), (nil, nil, .allow),
        ] as [(String?, Bool?, ItemQuery.AuthenticationUI)])
    func `neither key for questions allows what the other forbids`(
        _ newer: String?, _ older: Bool?, _ meant: ItemQuery.AuthenticationUI
    ) throws {
        var query: [String: Any] = [:]
        query[kSecUseAuthenticationUI as String] = newer
        query[kSecUseNoAuthenticationUI as String] = older
        #expect(try QueryParameters(query as CFDictionary).use.authenticationUI == meant)
    }

    @Test func `a dictionary of any order is read with its class`() throws {
        for _ in 0..<20 {
            // Each dictionary has an order of its own.
            let query: [String: Any] = [
                kSecAttrService as String: "mail", kSecMatchLimit as String: 3,
                kSecReturnData as String: true, kSecClass as String: kSecClassGenericPassword,
                kSecReturnAttributes as String: false,
                kSecUseOperationPrompt as String: "to sign in",
            ]
            let selection = try Selection(query as CFDictionary, for: .copyMatching)
            #expect(selection.queryClass == .items(.genericPassword))
            #expect(selection.limit == 3)
            guard case .items(let query) = selection.target else {
                Issue.record("no items")
                return
            }
            #expect(query.attributes == [.service: .string("mail")])
            #expect(query.reason == "to sign in")
        }
    }

    @Test(arguments: [true, false])
    func `a dictionary of the program's own class, or one that changes, is a query as well`(
        _ isOwn: Bool
    ) throws {
        let query: [String: Any] = [
            kSecAttrService as String: "mail", kSecReturnData as String: true,
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "me",
            kSecAttrLabel as String: "a text that is longer than the others",
        ]
        let dictionary = isOwn ? OwnDictionary(query) : NSMutableDictionary(dictionary: query)
        let parameters = try QueryParameters(dictionary)
        #expect(try parameters.queryClass() == .items(.genericPassword))
        #expect(parameters.returns == .data)
        let texts = parameters.attributes.reduce(into: [AttributeName: String]()) {
            if case .string(let text) = $1.value { $0[$1.name] = text }
        }
        #expect(
            texts == [
                .service: "mail", .account: "me", .label: "a text that is longer than the others",
            ])
    }
}

/// Makes its keys and values where they are asked for.
private final class OwnDictionary: NSDictionary, @unchecked Sendable {
    private let entries: [String: Any]

    init(_ entries: [String: Any]) {
        self.entries = entries
        super.init(objects: [], forKeys: [], count: 0)
    }

    required init(
        objects: UnsafePointer<AnyObject>?, forKeys keys: UnsafePointer<NSObject>?, count: Int
    ) {
        entries = [:]
        super.init(objects: objects, forKeys: keys, count: count)
    }

    required init?(coder: NSCoder) { nil }

    override var count: Int { entries.count }
    override func object(forKey key: Any) -> Any? { (key as? String).flatMap { entries[$0] } }
    override func keyEnumerator() -> NSEnumerator {
        (Array(entries.keys) as NSArray).objectEnumerator()
    }
}
