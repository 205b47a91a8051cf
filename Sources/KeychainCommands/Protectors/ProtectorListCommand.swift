// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import Terminal

struct ProtectorListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show everything that opens a keychain.")

    @OptionGroup var options: ProtectorOptions

    func run() throws {
        let protectors = try options.asked.ask(
            ListProtectors(keychain: options.keychain), to: "list the protectors")
        if options.output.json {
            JSONOutput.write(protectors.map(ProtectorRecord.init))
        } else {
            StandardStream.output.write(ProtectorText.table(protectors))
        }
    }
}
