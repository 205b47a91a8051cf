// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct FormerSecretsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "former",
        abstract: "Show and restore secrets that programs have replaced.",
        discussion: """
            The last two secrets that an item had before are kept for 30 days. It takes a proof that \
            you are present to list, show or restore them.
            """,
        subcommands: [
            FormerListCommand.self, FormerShowCommand.self, FormerRestoreCommand.self,
        ])
}

struct FormerListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the secrets that are kept, without showing them.")

    @OptionGroup var chosen: FormerOptions

    func run() throws {
        let keychain = chosen.asked
        let found = try keychain.ask(
            ReadFormerSecrets(keychain: keychain.name), to: "list former secrets")
        if chosen.output.json { return JSONOutput.write(FormerRecord(found)) }
        var table = TextTable(["ID", "LABEL", "REPLACED", "BY"])
        for former in found {
            table.add([former.id, former.label, former.time, former.program])
        }
        let text = table.text(TextStyle(.output))
        StandardStream.output.write(text.isEmpty ? "none\n" : text)
    }
}

struct FormerShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Write a former secret to standard output.")

    @Argument(help: "What list shows in its first column.")
    var id: FormerID

    @OptionGroup var chosen: FormerOptions

    func run() throws {
        let former = try chosen.former(id, to: "show the former secret")
        let item = Item(
            reference: former.item, attributes: [.label: .string(former.label)],
            accessControl: .plain(.whenUnlocked), secret: former.secret)
        try GetCommand.write(item, from: chosen.asked)
    }
}

struct FormerRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a former secret back into its item.",
        discussion: "The secret that the item has now becomes a former one.")

    @Argument(help: "What list shows in its first column.")
    var id: FormerID

    @OptionGroup var chosen: FormerOptions

    func run() throws {
        let task = "restore the former secret"
        let former = try chosen.former(id, to: task)
        var query = ItemQuery(.attributed)
        query.keychain = chosen.asked.name ?? KeychainName.login.description
        query.references = [former.item]
        var change = ItemChange()
        change.attributes[.contentType] = .string(former.contentType)
        try chosen.asked.ask(Update(query, change, secret: former.secret), to: task)
        if chosen.output.json { return JSONOutput.write(["restored": former.id]) }
        StandardStream.output.write(
            "The secret of “\(PlainText.line(former.label))” is restored.\n")
    }
}

struct FormerOptions: ParsableArguments {
    @Option(help: "The keychain's name; the login keychain when left out.")
    var keychain: String?

    @OptionGroup var output: OutputOptions

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }

    func former(_ id: FormerID, to task: String) throws(CommandFailure) -> FormerSecret {
        let verb = ReadFormerSecrets(
            keychain: keychain, id.item, generation: UInt64(clamping: id.generation))
        guard let former = try asked.ask(verb, to: task).first else {
            throw asked.failure(CommandFailure(.state(.notFound), task, keychain: keychain))
        }
        return former
    }
}

/// Names a former secret: its item's identifier, and the generation of the item that had it.
struct FormerID: ExpressibleByArgument {
    let item: ItemReference
    let generation: Int64

    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let generation = Int64(parts[1]), generation > 0,
            let identifier = ItemReference.identifier(inHexadecimal: parts[0]),
            let item = ItemReference(itemClass: .attributed, identifier: identifier)
        else { return nil }
        self.item = item
        self.generation = generation
    }
}

extension ItemReference {
    /// Of 32 hexadecimal digits.
    static func identifier(inHexadecimal digits: some StringProtocol) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count == 2 * identifierBytes else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return bytes.count == identifierBytes ? bytes : nil
    }

    /// The identifier's digits.
    var hexadecimal: String {
        identifier.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension FormerSecret {
    fileprivate var id: String {
        item.hexadecimal + ".\(generation)"
    }

    fileprivate var time: String {
        Date(timeIntervalSinceReferenceDate: replaced.rounded(.down)).formatted(.iso8601)
    }
}

private struct FormerRecord: Encodable {
    struct Record: Encodable {
        let id: String
        let label: String
        let replaced: String
        let by: String
    }
    let former: [Record]

    init(_ found: [FormerSecret]) {
        former = found.map {
            Record(id: $0.id, label: $0.label, replaced: $0.time, by: $0.program)
        }
    }
}
