// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel
internal import Terminal

struct AccessShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "List the programs that the matching items let in.")

    @OptionGroup var wanted: QueryOptions

    func validate() throws { try wanted.checkMeansSome(allowingAll: false) }

    func run() throws {
        let found = try ListedItems(wanted.selection).matching(to: "show the item's access")
        guard !found.isEmpty else {
            let failure = CommandFailure(
                .state(.notFound), "show the item's access", keychain: wanted.keychain)
            throw wanted.asked.failure(failure)
        }
        let records = found.map { AccessRecord($0) }
        if wanted.output.json {
            JSONOutput.write(AccessRecords(items: records))
            return
        }
        let text = records.map(\.text).joined(separator: "\n")
        StandardStream.output.write(text)
    }
}
