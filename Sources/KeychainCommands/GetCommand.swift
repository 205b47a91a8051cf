// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Write an item's secret to standard output.",
        discussion: "Where several items match, the first of them.")

    @OptionGroup var wanted: QueryOptions

    func validate() throws { try wanted.checkMeansSome(allowingAll: false) }

    func run() throws { try Self.write(try wanted.query(), from: wanted.asked) }

    static func write(_ query: ItemQuery, from asked: Keychain) throws(CommandFailure) {
        var query = query
        query.returnFields = asked.asJSON ? [.data, .attributes] : .data
        let items = try asked.ask(CopyMatching(query), to: "get the item")
        guard let found = items.first else {
            throw asked.failure(
                CommandFailure(.state(.notFound), "get the item", keychain: asked.name))
        }
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
