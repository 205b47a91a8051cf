// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import PolicyLanguage
internal import Terminal

struct PolicySchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Write the JSON Schema of policy files, for editors.")

    func run() { StandardStream.output.write(PolicySchema.text) }
}
