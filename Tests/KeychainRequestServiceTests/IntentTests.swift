// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyModel
@testable import KeychainRequestService
import KeychainUserPresence
import Testing

/// What a verb comes to, for items, for policies and for the user.
@Suite struct IntentTests {
    private static let query = ServiceInMemory.query("mail", .attributes)

    @Test func `a search that wants secrets reads them, and another lists`() {
        let secrets = Intent.read(ServiceInMemory.query("mail", [.data, .attributes]))
        #expect(secrets.policyOperation == .readSecret && secrets.purpose == .read)
        let attributes = Intent.read(Self.query)
        #expect(attributes.policyOperation == .readAttributes && attributes.purpose == .list)
        // An item's own rights know one kind of reading.
        #expect(secrets.operation == .decrypt && attributes.operation == .decrypt)
    }

    @Test func `a change opens the item that it changes, and an addition makes one`() {
        let update = Intent.update(Self.query)
        #expect(update.operation == .decrypt)
        #expect(update.policyOperation == .update && update.purpose == .change)
        let add = Intent.add(NewItem(.genericPassword))
        #expect(add.operation == .encrypt && add.policyOperation == .add && add.purpose == .add)
        let delete = Intent.delete(Self.query)
        #expect(delete.operation == .delete)
        #expect(delete.policyOperation == .delete && delete.purpose == .delete)
    }

    @Test func `whether the user may be asked and why is the program's to say`() {
        var query = Self.query
        query.authenticationUI = .fail
        query.reason = "sync"
        var item = NewItem(.genericPassword)
        item.authenticationUI = .fail
        item.reason = "sync"
        for intent in [Intent.read(query), .update(query), .delete(query), .add(item)] {
            #expect(intent.ui == .fail && intent.reason == "sync")
        }
    }

    @Test func `judged as another operation, it is asked for in the same words`() {
        let delete = Intent.delete(Self.query)
        let judged = delete.judged(as: .changeACL)
        #expect(judged.policyOperation == .changeACL)
        #expect(judged.operation == delete.operation && judged.purpose == delete.purpose)
    }
}
