// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// One row of a table about the calls: items that are there, one call, and what comes of it.
///
/// Dictionaries name the class `genp` where they name none, and lie in a service of the row's own
/// (of other classes: what stands for one), so that rows don't see each other.
struct CallRow: Sendable, CustomTestStringConvertible {
    typealias Words = [String: any Sendable]

    enum Call: Sendable {
        case add(Words), copy(Words), update(Words, Words), delete(Words)
    }

    enum Outcome: Sendable {
        /// What the call says.
        case status(OSStatus)
        /// Accounts of what the search finds when all with their attributes are asked for.
        case finds(Set<String>)
        /// Accounts that are there when it is done, its status being success.
        case leaves(Set<String>)
        /// The same where it fails.
        case fails(OSStatus, leaving: Set<String>)
    }

    let testDescription: String
    let items: [Words]
    let call: Call
    let outcome: Outcome

    init(_ name: String, _ items: [Words], _ call: Call, _ outcome: Outcome) {
        testDescription = name
        self.items = items
        self.call = call
        self.outcome = outcome
    }

    func check() {
        let scope = Scope()
        for item in items { #expect(add(scope.inside(item)) == errSecSuccess, "\(item)") }
        switch outcome {
        case .status(let status): #expect(perform(scope) == status)
        case .finds(let accounts):
            guard case .copy(let query) = call else {
                Issue.record("only a search finds")
                return
            }
            let found = scope.accounts(scope.inside(query))
            #expect(found.accounts == accounts)
            #expect(found.status == (accounts.isEmpty ? errSecItemNotFound : errSecSuccess))
        case .leaves(let accounts):
            #expect(perform(scope) == errSecSuccess)
            #expect(scope.all(itemClass) == accounts)
        case .fails(let status, let accounts):
            #expect(perform(scope) == status)
            #expect(scope.all(itemClass) == accounts)
        }
    }

    private var itemClass: String { items.first?["class"] as? String ?? "genp" }

    private func perform(_ scope: Scope) -> OSStatus {
        switch call {
        case .add(let item): add(scope.inside(item))
        case .copy(let query): copyMatching(scope.inside(query)).status
        case .update(let query, let changes): update(scope.inside(query), changes)
        case .delete(let query): delete(scope.inside(query))
        }
    }
}

/// Where a row's items are.
private struct Scope {
    private let name = freshService()

    func inside(_ words: CallRow.Words) -> [String: Any] {
        let itemClass = words["class"] as? String ?? "genp"
        let own: [String: Any] =
            switch itemClass {
            case "genp": ["svce": name]
            case "inet": ["sdmn": name]
            case "cert": ["subj": name]
            case "keys": ["vwht": name]
            default: [:]
            }
        return own.with(["class": itemClass]).with(words)
    }

    /// What names an item of a row: its account, or label where the class has none.
    func accounts(_ query: [String: Any]) -> (status: OSStatus, accounts: Set<String>) {
        let unlimited: [String: Any] = ["m_Limit": "m_LimitAll", "r_Attributes": true]
        let all = copyMatching(unlimited.with(query))
        let items = all.result as? [[String: Any]]
        let one = (all.result as? [String: Any]).map { [$0] }
        let names = (items ?? one ?? []).map { item in
            item["acct"] as? String ?? item["labl"] as? String ?? "?"
        }
        return (all.status, Set(names))
    }

    func all(_ itemClass: String) -> Set<String> {
        accounts(inside(["class": itemClass, "sync": "syna"])).accounts
    }
}
