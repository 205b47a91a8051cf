// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// Which items a command means.
struct QueryOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The class of items.", valueName: "class"))
    var kind: ItemKind

    @OptionGroup var attributes: AttributeOptions

    @Option(help: "The access group; all groups of this program when left out.")
    var group: String?
    @Option(help: "When the item can be opened.")
    var accessible: AccessibilityWord?
    @Option(help: "The keychain; those of the search list when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false
    @OptionGroup var output: OutputOptions

    func query() throws(ValidationError) -> ItemQuery {
        var query = ItemQuery(kind.itemClass)
        query.keychain = keychain
        query.attributes = try attributes.values(for: kind)
        query.accessible = accessible?.accessibility
        query.accessGroup = group
        query.synchronizable = .any
        query.authenticationUI = noPrompt ? .fail : .allow
        return query
    }

    /// Refuses a command that would mean every item of the class by omission.
    func checkMeansSome(allowingAll: Bool) throws(ValidationError) {
        let query = try query()
        guard query.attributes.isEmpty, query.accessible == nil, group == nil else { return }
        guard !allowingAll else { return }
        throw ValidationError("Say which items you mean, by --service, --account or the like.")
    }

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }
}
