// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
@testable internal import SecretService
internal import Testing

private func pairs(_ pairs: KeyValuePairs<String, String>) -> Attributes {
    var attributes: Attributes = [:]
    for (name, value) in pairs { attributes[.pair(name)] = .string(value) }
    return attributes
}

private func item(
    _ pairs: Attributes, secret: [UInt8] = [1], replaces: Bool = false
) -> NewSecretItem {
    NewSecretItem(
        label: "x", pairs: pairs, contentType: "text/plain",
        secret: HeldSecret(SecretBytes(copying: secret)), replaces: replaces)
}

@Suite struct MemoryItemsTests {
    private let collection = MemoryCollection(isShared: false)
    private var mine: MemoryItems { collection.items(of: "exe:/mine") }
    private var others: MemoryItems { collection.items(of: "exe:/others") }

    @Test func `an item is its group's alone`() throws {
        let added = try mine.add(item(pairs(["a": "b"]))).item
        #expect(try mine.search([:]).map(\.item) == [added])
        #expect(try others.search([:]).isEmpty)
        #expect(throws: ServiceError.noSuchObject) { try others.facts(of: added) }
        #expect(throws: ServiceError.noSuchObject) { try others.secret(of: added, asking: true) }
        #expect(throws: ServiceError.noSuchObject) { try others.delete(added, asking: false) }
        #expect(throws: ServiceError.noSuchObject) {
            try others.change(added, SecretItemChange(label: "y"))
        }
    }

    @Test func `another group's item with the same attributes is not replaced`() throws {
        let theirs = try others.add(item(pairs(["a": "b"]))).item
        let added = try mine.add(item(pairs(["a": "b"]), replaces: true))
        #expect(added.isNew && added.item != theirs)
    }

    @Test func `a replaced item keeps its path and no empty search replaces any`() throws {
        let first = try mine.add(item(pairs(["a": "b"])))
        let second = try mine.add(item(pairs(["a": "b"]), secret: [2], replaces: true))
        #expect(first.isNew && !second.isNew && first.item == second.item)
        #expect(try mine.add(item([:], replaces: true)).isNew)
        #expect(try mine.add(item(pairs(["a": "b"]))).isNew)
        #expect(try mine.search(pairs(["a": "b"])).count == 2)
    }

    @Test func `every pair must be there, and the fewest further ones come first`() throws {
        let more = try mine.add(item(pairs(["a": "b", "c": "d", "e": "f"]))).item
        let fewer = try mine.add(item(pairs(["a": "b", "c": "d"]))).item
        _ = try mine.add(item(pairs(["a": "x"])))
        #expect(try mine.search(pairs(["a": "b"])).map(\.item) == [fewer, more])
    }

    @Test func `bytes and items are bounded, and what goes makes room`() throws {
        let large = [UInt8](repeating: 0, count: Limits.memoryBytes)
        let most = Array(large.dropLast(100))
        let kept = try mine.add(item([:], secret: most)).item
        #expect(throws: ServiceError.limitsExceeded) {
            try mine.add(item([:], secret: [UInt8](repeating: 0, count: 200)))
        }
        #expect(throws: ServiceError.limitsExceeded) {
            try mine.change(
                kept, SecretItemChange(secret: HeldSecret(SecretBytes(copying: large))))
        }
        try mine.delete(kept, asking: false)
        for _ in 0..<Limits.memoryItems { _ = try mine.add(item([:])) }
        #expect(throws: ServiceError.limitsExceeded) { try others.add(item([:])) }
    }

    @Test func `one of several groups fills no more than half`() throws {
        let shared = MemoryCollection(isShared: true)
        let (mine, others) = (shared.items(of: "exe:/mine"), shared.items(of: "exe:/others"))
        for _ in 0..<Limits.memoryItems / 2 { _ = try mine.add(item([:])) }
        #expect(throws: ServiceError.limitsExceeded) { try mine.add(item([:])) }
        let half = [UInt8](repeating: 0, count: Limits.memoryBytes / 2)
        let kept = try others.add(item([:], secret: Array(half.dropLast(100)))).item
        #expect(throws: ServiceError.limitsExceeded) {
            try others.change(
                kept, SecretItemChange(secret: HeldSecret(SecretBytes(copying: half))))
        }
    }
}
