// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Give a name a secret: of a new item, or of the one there is.",
        discussion: """
            The secret is everything on standard input, byte for byte, or is asked for where \
            standard input is a terminal, or is made up. A new item is a generic password, where no \
            other class is said.
            """)

    @Argument(
        help: ArgumentHelp("NAME or NAME/ACCOUNT; before it a class.", valueName: "item"))
    var words: [String]

    // Text, because of a value that is none the parser would make the flag alone.
    @Option(
        defaultAsFlag: GeneratedSecret.usualLength,
        help: ArgumentHelp("Make a secret up, of so many characters (8 to 1023).", valueName: "n"))
    var generate: String?
    @Flag(help: "Put the secret on the clipboard for 45 seconds, too.")
    var copy = false
    @Option(help: "The name that people see.")
    var label: String?
    @Option(help: "A comment.")
    var comment: String?
    @Option(help: "The access group; this program's own when left out.")
    var group: String?
    @Option(help: "When a new item can be opened.")
    var accessible: AccessibilityWord?
    @Option(
        help: "What must be proven before a new item opens, with commas between.",
        completion: AccessFlagsArgument.completion, transform: AccessFlagsArgument.init)
    var flags: AccessFlagsArgument?
    @Option(help: "The keychain; the default keychain for a new item when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false
    @OptionGroup var output: OutputOptions

    private static let task = "set the item"

    func validate() throws {
        try selection.checkWords()
        guard let name else {
            throw ValidationError("Say which item, as NAME or NAME/ACCOUNT.")
        }
        guard kind == nil || newKind == kind else {
            throw ValidationError("keychainctl set is for passwords; see keychainctl add.")
        }
        guard name.text.utf8.count <= 1024 else { throw ValidationError("The name is too long.") }
        guard generate == nil || length != nil else {
            throw ValidationError("--generate takes a number from 8 to 1023.")
        }
        _ = try newItem()
    }

    func run() throws {
        let asked = selection.asked
        do throws(CommandFailure) {
            let secret = try self.secret()
            let isNew = try !change(to: secret, asked)
            if isNew { try add(secret, asked) }
            if copy { try Clipboard.lend(secret) }
            if output.json {
                JSONOutput.write(SetRecord(made: isNew))
            } else if StandardStream.output.isTerminal {
                let name = PlainText.line(name?.text ?? "")
                StandardStream.output.write(
                    isNew ? "“\(name)” is new.\n" : "“\(name)” is changed.\n")
            }
        } catch { throw asked.failure(error) }
    }

    private func secret() throws(CommandFailure) -> HeldSecret {
        if let length { return HeldSecret(GeneratedSecret.make(length)) }
        return try SecretReading.itemSecret()
    }

    /// False where there is no such item.
    private func change(to secret: HeldSecret, _ asked: Keychain) throws(CommandFailure) -> Bool {
        guard let named = selection.named,
            let item = try named.find(.persistentReference, from: asked, to: Self.task)
        else { return false }
        guard accessible == nil, flags == nil else {
            throw CommandFailure(
                .exists, name: "duplicate",
                "could not \(Self.task): it is there, and --accessible and --flags are a new item's",
                advice: "keychainctl update changes them, by --new-accessible and --new-flags.")
        }
        var change = ItemChange()
        change.attributes = described
        try asked.ask(Update(named.query(for: item), change, secret: secret), to: Self.task)
        return true
    }

    private func add(_ secret: HeldSecret, _ asked: Keychain) throws(CommandFailure) {
        let item: NewItem
        do { item = try newItem() } catch {
            throw CommandFailure(.invalid(.badRequest), Self.task, keychain: keychain)
        }
        try asked.ask(Add(item, secret: secret, returning: []), to: Self.task)
    }

    private func newItem() throws(ValidationError) -> NewItem {
        var item = NewItem(newKind.itemClass)
        item.keychain = keychain
        item.attributes = described
        let (place, account) = name?.parts ?? (name?.text ?? "", "")
        if newKind == .internetPassword {
            let (host, port) = ItemName.hostAndPort(place) ?? (place, 0)
            item.attributes[.server] = .string(host)
            if port > 0 { item.attributes[.port] = .number(Int64(port)) }
        } else {
            item.attributes[.service] = .string(place)
        }
        if !account.isEmpty { item.attributes[.account] = .string(account) }
        item.accessGroup = group
        item.accessible = accessible?.accessibility ?? .whenUnlocked
        if let flags {
            guard let rights = flags.rights(item.accessible) else {
                throw AccessFlagsArgument.contradiction
            }
            item.accessControl = rights.accessControl
        }
        item.authenticationUI = noPrompt ? .fail : .allow
        return item
    }

    private var described: Attributes {
        var attributes: Attributes = [:]
        attributes[.label] = label.map(AttributeValue.string)
        attributes[.comment] = comment.map(AttributeValue.string)
        return attributes
    }

    private var length: Int? { generate.flatMap(GeneratedSecret.length) }

    private var newKind: ItemKind {
        kind == .internetPassword ? .internetPassword : .genericPassword
    }
    private var kind: ItemKind? { selection.kind }
    private var name: ItemName? { selection.name }

    /// Which item is meant, as for the other commands.
    private var selection: ItemSelection {
        ItemSelection(
            words: words,
            wanted: WantedItems(group: group, keychain: keychain, mayAsk: !noPrompt),
            asJSON: output.json)
    }
}

/// What `set --json` says.
private struct SetRecord: Encodable {
    let done = true
    /// False where an item of that name was changed.
    let made: Bool

    private enum CodingKeys: CodingKey { case done, made }
}
