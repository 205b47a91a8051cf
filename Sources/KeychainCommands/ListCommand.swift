// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show items without their secrets.",
        discussion: """
            Items that ask for the user's presence ask for it here too, once for all of them. With \
            --no-prompt they are left out.
            """)

    @OptionGroup var wanted: QueryOptions

    func validate() throws { _ = try wanted.query() }

    func run() throws {
        let items = try found().map { ItemRecord($0) }
        if wanted.output.json {
            JSONOutput.write(["items": items])
        } else {
            for item in items { StandardStream.output.write(item.text) }
        }
    }

    /// No item is an empty list, and no error.
    private func found() throws -> [Item] {
        var query = try wanted.query()
        query.limit = nil
        query.returnFields = .attributes
        if wanted.noPrompt { query.authenticationUI = .skip }
        do throws(CommandFailure) {
            return try wanted.asked.ask(CopyMatching(query), to: "list the items")
        } catch {
            guard error.code == .notFound, error.name == "\(RequestError.state(.notFound))" else {
                throw error
            }
            return []
        }
    }
}
