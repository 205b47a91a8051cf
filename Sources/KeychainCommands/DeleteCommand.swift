// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete every item that matches, or none.",
        discussion: "A name means one item; where it may be several, they are named and stay.",
        aliases: ["rm"])

    @OptionGroup var wanted: QueryOptions

    @Flag(help: "Delete every item of the class.")
    var all = false

    func validate() throws { try wanted.checkMeansSome(allowingAll: all) }

    func run() throws {
        let meant = try wanted.selection.changedItems(to: "delete the item")
        let count = try wanted.asked.ask(Delete(meant), to: "delete the item")
        if wanted.output.json { JSONOutput.write(DoneRecord(count: count)) }
    }
}
