// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

struct InjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inject", abstract: "Fill a template's places with secrets.",
        discussion: """
            A place is {{ keychain "NAME/ACCOUNT" }}. The template is standard input or a file; what \
            comes of it goes to standard output, or to a file that its user alone can read. Nothing \
            is written where a secret is missing.
            """)

    @Option(name: .customLong("in"), help: "The template; standard input when left out.")
    var template: String?
    @Option(help: "The file to make; standard output when left out.")
    var out: String?
    @Flag(help: "Replace the file where it exists.")
    var force = false
    @Option(help: "The keychain; those of the search list when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false

    private static let task = "fill the template"
    private static let longest = 16 * 1024 * 1024
    /// Bytes of the template with its places filled.
    private static let longestFilled = 64 * 1024 * 1024

    func validate() throws {
        guard !force || out != nil else { throw ValidationError("--force goes with --out.") }
    }

    func run() throws {
        let filled = try filled(try parsed())
        guard let out else {
            guard StandardStream.output.release(filled.bytes) else {
                throw CommandFailure(
                    .failure, name: "inputOutput", "could not write to standard output")
            }
            return
        }
        do throws(SystemError) { try write(filled, to: out) } catch {
            throw CommandFailure(file: error, out, Self.task)
        }
    }

    private func parsed() throws(CommandFailure) -> SecretTemplate {
        let bytes = try bytes()
        do throws(SecretTemplate.Malformed) { return try SecretTemplate(bytes) } catch {
            throw CommandFailure(
                .usage, name: "badTemplate",
                "could not \(Self.task): line \(error.line): the place does not end, or has no name",
                advice: "A place is {{ keychain \"NAME/ACCOUNT\" }}, on one line.")
        }
    }

    private func bytes() throws(CommandFailure) -> [UInt8] {
        guard let template else {
            do throws(TerminalError) {
                return try StandardInput.read(limit: Self.longest).releasedFromLockedMemory()
            } catch { throw CommandFailure(error) }
        }
        do throws(SystemError) {
            return try SecretFile.read(template, limit: Self.longest).releasedFromLockedMemory()
        } catch { throw CommandFailure(file: error, template, Self.task) }
    }

    private func filled(_ template: SecretTemplate) throws(CommandFailure) -> HeldSecret {
        var secrets = NamedSecrets(in: keychain, mayAsk: !noPrompt, to: Self.task)
        let filled = try template.filled(atMost: Self.longestFilled) {
            name throws(CommandFailure) in
            try secrets.secret(name)
        }
        guard let filled else {
            throw CommandFailure(
                .failure, name: CommandFailure.dataTooLarge,
                "could not \(Self.task): with its secrets it is longer than 64 MiB")
        }
        return filled
    }

    private func write(_ filled: HeldSecret, to path: String) throws(SystemError) {
        guard force else { return try PrivateFile.create(path, contents: filled.bytes) }
        let new = path + ".new-\(UInt32.random(in: 0...UInt32.max))"
        try PrivateFile.create(new, contents: filled.bytes)
        do { try PrivateFile.publish(new, as: path, replacing: true) } catch {
            PrivateFile.remove(new)
            throw error
        }
    }
}
