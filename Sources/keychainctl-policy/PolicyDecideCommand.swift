// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import KeychainPolicyModel
internal import PolicyTools
internal import Terminal

struct PolicyDecideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decide", abstract: "Decide requests: a line of JSON each, in and out.",
        discussion: """
            A request has the shape of request: in tests. A line that is no request is answered \
            with {"error": …}; the others are decided, and the command ends with 1.
            """)

    @OptionGroup var policies: PolicyOptions

    func run() throws {
        let decider = PolicyDecider(try policies.loadUsable().policy)
        try RequestLines.answer(today: policies.today) { decider.decide($0) }
    }
}

/// Reads requests from standard input, and writes the answers to standard output.
enum RequestLines {
    private static let longestHeld = 64 * 1024

    static func answer(
        today: Int32, _ decide: (PolicyRequest) -> PolicyDecision
    ) throws {
        var held = ""
        var isFine = true
        while let line = readLine() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(RequestLine.Mistake) {
                held += decide(try RequestLine.read(line, today: today)).json
            } catch {
                held += "{\"error\": \(JSONText(error.message))}"
                isFine = false
            }
            held += "\n"
            if held.utf8.count > longestHeld {
                StandardStream.output.write(held)
                held = ""
            }
        }
        StandardStream.output.write(held)
        if !isFine { throw ExitCode.failure }
    }
}
