// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an item.",
        discussion: """
            The secret is everything on standard input, byte for byte, or is asked for where \
            standard input is a terminal.
            """)

    @Argument(help: ArgumentHelp("The class of the item.", valueName: "class"))
    var kind: ItemKind

    @OptionGroup var attributes: AttributeOptions

    @Option(help: "The access group; this program's own when left out.")
    var group: String?
    @Option(help: "When the item can be opened.")
    var accessible = AccessibilityWord(.whenUnlocked)
    @Option(
        help: "What must be proven before it opens, with commas between: user-presence,….",
        completion: AccessFlagsArgument.completion, transform: AccessFlagsArgument.init)
    var flags: AccessFlagsArgument?
    @Option(help: "The keychain; the default keychain when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false
    @OptionGroup var output: OutputOptions

    func validate() throws { _ = try item() }

    func run() throws {
        let asked = Keychain(name: keychain, asJSON: output.json)
        do throws(CommandFailure) {
            let secret = try SecretReading.itemSecret()
            let item: NewItem
            do { item = try self.item() } catch {
                throw CommandFailure(.invalid(.badRequest), "add the item", keychain: keychain)
            }
            let added = try asked.ask(
                Add(item, secret: secret, returning: output.json ? .attributes : []),
                to: "add the item")
            if output.json { JSONOutput.write(AddedRecord(added)) }
        } catch { throw asked.failure(error) }
    }

    private func item() throws(ValidationError) -> NewItem {
        var item = NewItem(kind.itemClass)
        item.keychain = keychain
        item.attributes = try attributes.values(for: kind)
        item.accessGroup = group
        item.accessible = accessible.accessibility
        if let flags {
            guard let rights = flags.rights(accessible.accessibility) else {
                throw AccessFlagsArgument.contradiction
            }
            item.accessControl = rights.accessControl
        }
        item.authenticationUI = noPrompt ? .fail : .allow
        return item
    }
}

/// What `add --json` says.
struct AddedRecord: Encodable {
    let done = true
    let item: ItemRecord
    private enum CodingKeys: CodingKey { case done, item }

    init(_ item: Item) { self.item = ItemRecord(item) }
}
