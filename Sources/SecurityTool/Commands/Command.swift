// SPDX-License-Identifier: Apache-2.0

/// One row of the table of commands: its name, its arguments, and its function.
package struct Command: Sendable {
    typealias Run = @Sendable (Options, Session) throws(CommandFailure) -> Void

    package let name: String
    /// The arguments in its usage.
    package let arguments: String
    package let description: String
    /// The option letters for `Options`; nil where the command reads every word itself.
    let letters: String?
    /// Whether a word comes before the options.
    let takesWordFirst: Bool
    /// Options whose values are secrets: `-v` does not show them.
    let secretLetters: String
    let run: Run

    init(
        _ name: String, _ arguments: String, _ description: String, letters: String? = "",
        takesWordFirst: Bool = false, hiding secretLetters: String = "",
        run: @escaping Run
    ) {
        self.name = name
        self.arguments = arguments
        self.description = description
        self.letters = letters
        self.takesWordFirst = takesWordFirst
        self.secretLetters = secretLetters
        self.run = run
    }

    /// A command for a feature that this system lacks.
    static func absent(_ name: String, _ description: String, _ sentence: String) -> Command {
        Command(name, "", description + " (not here)", letters: nil) {
            (_: Options, _: Session) throws(CommandFailure) in
            throw .absent("\(name): \(sentence)")
        }
    }

    var usage: String {
        let line = arguments.isEmpty ? name : "\(name) \(arguments)"
        return "Usage: \(line)\n        \(description)\n"
    }
}
