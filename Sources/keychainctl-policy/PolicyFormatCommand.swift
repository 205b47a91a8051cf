// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import PolicyLanguage
internal import PolicySyntax
internal import Terminal

struct PolicyFormatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmt", abstract: "Write policy files as all of them are written.",
        discussion: "Comments stay. Without files, those of --policies are written.")

    @Argument(help: "The files; \"-\" reads standard input and writes standard output.")
    var files: [String] = []
    @OptionGroup var policies: PolicyOptions
    @Flag(help: "Only say which files would change, and end with 1 if there are any.")
    var check = false

    func run() throws {
        if files == ["-"] { return try formatInput() }
        let paths = try files.isEmpty ? policies.load().files.map(\.source.path) : files
        var isFine = true
        for path in paths {
            do {
                if try format(path), check {
                    StandardStream.output.write(PlainText.line(path) + "\n")
                    isFine = false
                }
            } catch let found as Diagnostic {
                PolicyOutput.tell([found])
                isFine = false
            }
        }
        if !isFine { throw ExitCode.failure }
    }

    /// Returns whether the file was, or would be, changed.
    private func format(_ path: String) throws -> Bool {
        let source = try PolicySource.read(path)
        let formatted = try PolicyFormatter.format(source)
        guard formatted != source.bytes else { return false }
        guard !check else { return true }
        do {
            try Data(formatted).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(
                .failure, name: "unwritable", "could not write \(path)",
                advice: "Is the file yours to write?")
        }
        return true
    }

    private func formatInput() throws {
        var text: [UInt8] = []
        while let line = readLine(strippingNewline: false) { text += line.utf8 }
        do {
            let source = SourceFile(path: "-", bytes: text)
            let formatted = try PolicyFormatter.format(source)
            if !check {
                StandardStream.output.write(String(decoding: formatted, as: UTF8.self))
            } else if formatted != text {
                throw ExitCode.failure
            }
        } catch let found as Diagnostic {
            PolicyOutput.tell([found])
            throw ExitCode.failure
        }
    }
}
