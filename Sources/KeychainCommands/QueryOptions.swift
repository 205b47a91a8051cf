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
        try WantedItems(
            kind: kind, values: attributes.typed, group: group, accessible: accessible,
            keychain: keychain, mayAsk: !noPrompt
        ).query()
    }

    /// Refuses a command that would mean every item of the class by omission.
    func checkMeansSome(allowingAll: Bool) throws(ValidationError) {
        let query = try query()
        guard !WantedItems.areSaid(by: query), !allowingAll else { return }
        throw ValidationError("Say which items you mean, by --service, --account or the like.")
    }

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }
}
