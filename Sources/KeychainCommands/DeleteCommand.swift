// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete every item that matches, or none.")

    @OptionGroup var wanted: QueryOptions

    @Flag(help: "Delete every item of the class.")
    var all = false

    func validate() throws { try wanted.checkMeansSome(allowingAll: all) }

    func run() throws {
        let count = try wanted.asked.ask(Delete(try wanted.query()), to: "delete the item")
        if wanted.output.json { JSONOutput.write(DoneRecord(count: count)) }
    }
}
