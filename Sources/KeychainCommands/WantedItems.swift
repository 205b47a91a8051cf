// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// Which items a command means, as it was typed.
struct WantedItems: Equatable {
    var kind: ItemKind = .genericPassword
    var values = AttributeValues()
    var group: String?
    var accessible: AccessibilityWord?
    var keychain: String?
    var mayAsk = true

    func query() throws(ValidationError) -> ItemQuery {
        var query = ItemQuery(kind.itemClass)
        query.keychain = keychain
        query.attributes = try values.attributes(for: kind, optionPrefix: "--")
        query.accessible = accessible?.accessibility
        query.accessGroup = group
        query.synchronizable = .any
        query.authenticationUI = mayAsk ? .allow : .fail
        return query
    }

    /// Whether it is said which, and not every item of the class meant by omission.
    static func areSaid(by query: ItemQuery) -> Bool {
        !query.attributes.isEmpty || query.accessible != nil || query.accessGroup != nil
    }
}
