// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a command with secrets in its environment.",
        discussion: """
            The secrets are in that process's environment and nowhere else; it takes this one's \
            place. Processes of the same user can read it there. The command's exit code is this \
            one's, 127 where there is no such command, 126 where it can't be run.
            """)

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "A variable, and the item whose secret it gets. May be repeated.",
            valueName: "variable=item"),
        transform: EnvironmentVariable.init)
    var variables: [EnvironmentVariable] = []

    @Option(help: "The keychain; those of the search list when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments, behind --.", valueName: "command"))
    var command: [String] = []

    private static let task = "run the command"

    func validate() throws {
        guard !variables.isEmpty else {
            throw ValidationError("Say what it gets, by --env VARIABLE=ITEM.")
        }
        guard Set(variables.map(\.name)).count == variables.count else {
            throw ValidationError("A variable has one value.")
        }
        guard let first = command.first, !first.isEmpty else {
            throw ValidationError("Say which command, behind “--”.")
        }
    }

    func run() throws {
        var secrets = NamedSecrets(in: keychain, mayAsk: !noPrompt, to: Self.task)
        var added: [HeldSecret] = []
        for variable in variables {
            let value = try secrets.secret(variable.item)
            guard let entry = Self.entry(variable.name, value) else {
                throw CommandFailure(
                    .failure, name: "notText",
                    "could not \(Self.task): the secret of “\(variable.item)” has a zero byte in "
                        + "it, which no variable can have")
            }
            added.append(entry)
        }
        let error = ProgramReplacement.become(
            command[0], Array(command.dropFirst()), adding: added)
        let isMissing = error == .system(PrivateFile.notFound)
        let why = isMissing ? "there is no such command" : "it can't be run"
        StandardStream.error.write("keychainctl: \(PlainText.line(command[0])): \(why)\n")
        throw ExitCode(isMissing ? 127 : 126)
    }

    /// `NAME=value` with a zero at its end; nil where the value has one.
    private static func entry(_ name: String, _ value: HeldSecret) -> HeldSecret? {
        let hasZero = value.bytes.withBytes { bytes in
            (0..<bytes.byteCount).contains { bytes.byte($0) == 0 }
        }
        guard !hasZero else { return nil }
        var writer = SecretWriter(capacity: name.utf8.count + value.bytes.count + 2)
        writer.append(SecretBytes(copying: Array((name + "=").utf8)))
        writer.append(value.bytes)
        writer.append(SecretBytes(copying: [0]))
        return HeldSecret(writer.finish())
    }
}

/// `VARIABLE=ITEM`, as it was typed.
struct EnvironmentVariable {
    let name: String
    let item: String

    init(_ text: String) throws(ValidationError) {
        guard let sign = text.firstIndex(of: "="), text.index(after: sign) < text.endIndex else {
            throw ValidationError("write VARIABLE=ITEM")
        }
        name = String(text[..<sign])
        item = String(text[text.index(after: sign)...])
        let letters = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard letters, let first = name.first, !first.isNumber else {
            throw ValidationError(
                "a variable's name has letters, digits and underscores, and begins with no digit")
        }
    }
}
