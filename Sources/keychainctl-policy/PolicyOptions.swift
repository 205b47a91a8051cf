// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import PolicyLanguage
internal import PolicySyntax
internal import Terminal

/// The policies that a command reads.
struct PolicyOptions: ParsableArguments {
    @Option(
        name: .customLong("policies"),
        help: ArgumentHelp(
            "A folder of policies, or one file; may be repeated, and a later one wins. The "
                + "system's folders when left out.",
            valueName: "dir"))
    var folders: [String] = []

    var today: Int32 { LocalTime.now.day }

    func load() throws(CommandFailure) -> LoadedPolicies {
        LoadedPolicies(reading: try paths(), today: today)
    }

    func paths() throws(CommandFailure) -> [String] {
        guard folders.isEmpty else { return folders }
        let present = LoadedPolicies.systemFolders.filter {
            FileManager.default.fileExists(atPath: $0)
        }
        guard present.isEmpty else { return present }
        throw CommandFailure(
            .usage, name: "noPolicies", "there are no policies on this system",
            advice: "--policies DIR names a folder of them.")
    }

    /// Loads a set without errors; prints the errors of another one and throws.
    func loadUsable() throws -> LoadedPolicies {
        let loaded = try load()
        guard loaded.hasErrors else { return loaded }
        PolicyOutput.tell(loaded.diagnostics.filter { $0.severity == .error })
        throw ExitCode.failure
    }
}

enum PolicyOutput {
    static func tell(_ diagnostics: [Diagnostic], to stream: StandardStream = .error) {
        stream.write(diagnostics.map(\.text).joined())
    }

    /// Runs the work. Where it takes more than a second, a terminal shows the elapsed time, as the
    /// remaining time is not known.
    static func analysing<Found, Mistake: Error>(
        _ work: () throws(Mistake) -> Found
    ) throws(Mistake) -> Found {
        let progress = ProgressBar("Analysing", drawn: .byItself)
        defer { progress.end() }
        return try work()
    }

    /// `1 error, 2 warnings`
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
