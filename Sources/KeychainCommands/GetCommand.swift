// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Write an item's secret to standard output.",
        discussion: """
            A name means a generic password's service or an internet password's server, else a \
            label. Where several items of a class match, the first of them.
            """)

    @OptionGroup var wanted: QueryOptions

    @Flag(help: "Put it on the clipboard for 45 seconds instead.")
    var copy = false

    func validate() throws {
        try wanted.checkMeansSome(allowingAll: false)
        if copy, wanted.output.json {
            throw ValidationError("--copy and --json exclude each other.")
        }
    }

    func run() throws {
        let found = try Self.item(try target(), from: wanted.asked)
        guard copy else { return try Self.write(found, from: wanted.asked) }
        guard let secret = found.secret else { return }
        try Clipboard.lend(secret)
    }

    /// What the command means, by a name or by a query.
    enum Target: Equatable {
        case query(ItemQuery)
        case name(NamedItems)
    }

    func target() throws -> Target {
        let selection = wanted.selection
        if let named = selection.named { return .name(named) }
        return .query(try selection.query(selection.kind ?? .genericPassword))
    }

    static func item(_ target: Target, from asked: Keychain) throws(CommandFailure) -> Item {
        let fields: ReturnFields = asked.asJSON ? [.data, .attributes] : .data
        switch target {
        case .name(let named): return try named.one(fields, from: asked, to: "get the item")
        case .query(var query):
            query.returnFields = fields
            guard let found = try asked.ask(CopyMatching(query), to: "get the item").first else {
                throw asked.failure(
                    CommandFailure(.state(.notFound), "get the item", keychain: asked.name))
            }
            return found
        }
    }

    static func write(_ found: Item, from asked: Keychain) throws(CommandFailure) {
        if asked.asJSON {
            JSONOutput.write(ItemRecord(found, secret: found.secret))
            return
        }
        let output = StandardStream.output
        guard let secret = found.secret else { return }
        var isWhole = output.release(secret.bytes)
        if output.isTerminal { isWhole = output.write("\n") && isWhole }
        guard isWhole else {
            throw CommandFailure(
                .failure, name: "inputOutput", "could not write the secret to standard output")
        }
    }
}
