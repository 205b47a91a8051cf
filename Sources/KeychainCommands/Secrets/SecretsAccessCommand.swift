// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct SecretsAccessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Show and take back what programs were let into for good.",
        discussion: """
            A program that asks over the Secret Service for another one's secret is let in by its \
            user: “always” lets it read that item, “everything” gives it all that the other program \
            keeps in this keychain. It takes a proof that you are present to list or change that.
            """,
        subcommands: [SecretsAccessListCommand.self, SecretsAccessRemoveCommand.self],
        defaultSubcommand: SecretsAccessListCommand.self)
}

struct SecretsAccessListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the programs, and what each was let into.")

    @OptionGroup var chosen: SecretsAccessOptions

    func run() throws {
        let keychain = chosen.asked
        let found = try keychain.ask(
            ListLetIn(keychain: keychain.name), to: "list what programs were let into")
        let entries = found.map { LetInRecord.Entry($0) }
        if chosen.output.json { return JSONOutput.write(LetInRecord(access: entries)) }
        var table = TextTable(["PROGRAM", "HAS", "OF", "SINCE", "ITEM"])
        for entry in entries {
            table.add([
                entry.program, entry.item == nil ? "everything" : entry.label ?? "", entry.group,
                entry.since, entry.item ?? "",
            ])
        }
        let text = table.text(TextStyle(.output))
        StandardStream.output.write(text.isEmpty ? "none\n" : text)
    }
}

struct SecretsAccessRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Let a program have it no longer.",
        discussion: "It ends at once, also for programs that run.")

    @Option(
        help: ArgumentHelp(
            "The program's file, or its identity as list writes it.", valueName: "program"))
    var program: String

    @Option(
        name: .customLong("item"),
        help: ArgumentHelp(
            "An item, as list shows it in its last column. May be repeated.", valueName: "item"))
    var items: [AttributedItemName] = []

    @Option(
        name: .customLong("everything-of"),
        help: ArgumentHelp("The group that list shows beside “everything”.", valueName: "group"))
    var group: String?

    @OptionGroup var chosen: SecretsAccessOptions

    private var identity: String { Self.identity(program) }

    private static func identity(_ name: String) -> String {
        name.hasPrefix("/") ? "exe:" + name : name
    }

    func validate() throws {
        guard items.isEmpty != (group == nil) else {
            throw ValidationError("Say what to take back, by either --item or --everything-of.")
        }
    }

    func run() throws {
        let task = "take back what the program was let into"
        let keychain = chosen.asked
        var count = 1
        if let group {
            let verb = LeaveGroup(
                keychain: keychain.name, identity, from: Self.identity(group))
            _ = try keychain.ask(verb, to: task)
        } else {
            var query = ItemQuery(.attributed)
            query.keychain = keychain.name ?? KeychainName.login.description
            query.references = items.map(\.reference)
            var change = ItemChange()
            change.trust = .remove([identity])
            count = try keychain.ask(Update(query, change, secret: nil), to: task)
        }
        if chosen.output.json { JSONOutput.write(DoneRecord(count: count)) }
    }
}

struct SecretsAccessOptions: ParsableArguments {
    @Option(help: "The keychain's name; the login keychain when left out.")
    var keychain: String?

    @OptionGroup var output: OutputOptions

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }
}

/// An item of the Secret Service by its identifier: 32 hexadecimal digits.
struct AttributedItemName: ExpressibleByArgument {
    let reference: ItemReference

    init?(argument: String) {
        guard let identifier = ItemReference.identifier(inHexadecimal: argument),
            let reference = ItemReference(itemClass: .attributed, identifier: identifier)
        else { return nil }
        self.reference = reference
    }
}

/// What `--json` shows. The names of its keys are fixed.
private struct LetInRecord: Encodable {
    struct Entry: Encodable {
        let program: String
        /// `guarded`, `root` or `weak`.
        let strength: String
        /// The item's, or the one that the program joined.
        let group: String
        /// nil where the program has everything of the group.
        let item: String?
        let label: String?
        let since: String

        init(_ letIn: LetIn) {
            let application = AccessRecord.Application(letIn.program)
            program = application.program
            strength = application.strength
            since = application.listedAt
            group = letIn.group
            item = letIn.item?.hexadecimal
            label = letIn.item == nil ? nil : letIn.label
        }
    }
    let access: [Entry]
}
