// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import PolicyCompiler
internal import Terminal

struct PolicyGraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw the rules: who, what, which items; in DOT.",
        discussion: "keychainctl policy graph | dot -Tsvg >policy.svg makes a picture of it.")

    @OptionGroup var policies: PolicyOptions

    func run() throws {
        StandardStream.output.write(PolicyGraph(try policies.loadUsable().policy).dot)
    }
}
