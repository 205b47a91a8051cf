// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
@testable internal import SecretService
internal import Testing

/// One item of a keychain, whose secret may be had or not.
private struct OneItem: CollectionItems {
    var pairs: Attributes = [:]
    /// What reading it ends with; nil where it is open.
    var refusal: ServiceError?

    func facts(of item: ItemName) -> ItemFacts? {
        ItemFacts(pairs: pairs, label: "", created: 0, modified: 0)
    }
    func search(_ pairs: Attributes) -> [FoundItem] {
        #expect(!pairs.isEmpty)
        return [FoundItem(item: Self.name, isLocked: refusal != nil)]
    }
    func secret(of item: ItemName, asking: Bool) throws(ServiceError) -> OpenedSecret {
        #expect(!asking)
        if let refusal { throw refusal }
        return OpenedSecret(secret: HeldSecret(SecretBytes(copying: [1])), contentType: "")
    }
    func unlock(_ items: [ItemName], unless isCancelled: () -> Bool) -> Set<ItemName> { [] }
    func lock(_ items: [ItemName]) -> Set<ItemName> { [] }
    func add(_ item: NewSecretItem) -> AddedItem { AddedItem(item: Self.name, isNew: true) }
    func change(_ item: ItemName, _ change: SecretItemChange) {}
    func delete(_ item: ItemName, asking: Bool) {}

    static let name = ItemName(identifier: [UInt8](repeating: 7, count: 16))
}

@Suite struct CollectionItemsTests {
    private func isLocked(_ pairs: Attributes, _ refusal: ServiceError?) throws -> Bool {
        try OneItem(pairs: pairs, refusal: refusal).isLocked(OneItem.name)
    }

    @Test(arguments: [[:], [.pair("a"): .string("b")]] as [Attributes])
    func `an item is locked where its secret can't be had now`(pairs: Attributes) throws {
        #expect(try !isLocked(pairs, nil))
        #expect(try isLocked(pairs, .isLocked))
        #expect(try isLocked(pairs, .accessDenied))
    }

    @Test(arguments: [ServiceError.noSuchObject, .failed])
    func `an item that can't be told is neither locked nor open`(refusal: ServiceError) {
        #expect(throws: refusal) { try isLocked([:], refusal) }
    }
}
