// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// Which items a command means: those of a name, or those of a class with such attributes.
struct QueryOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "NAME or NAME/ACCOUNT, or a class of items, or a class and a name.", valueName: "item"))
    var words: [String] = []

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

    var selection: ItemSelection {
        ItemSelection(
            words: words,
            wanted: WantedItems(
                values: attributes.typed, group: group, accessible: accessible,
                keychain: keychain, mayAsk: !noPrompt),
            asJSON: output.json)
    }

    /// Refuses a command that would mean every item of the class by omission.
    func checkMeansSome(allowingAll: Bool) throws(ValidationError) {
        try selection.checkMeansSome(allowingAll: allowingAll)
    }

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }
}
