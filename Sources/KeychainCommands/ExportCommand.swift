// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write passwords to a file for another program.",
        discussion: """
            The file is Bitwarden's JSON, which most password managers read, encrypted with age(1): \
            for --recipient, else with a passphrase that age asks for. Only --unencrypted writes it \
            as it is. What is copied whole, to come back here, is `keychainctl backup`.
            """)

    @Argument(help: "The file to make.")
    var file: String
    @Option(help: ArgumentHelp("Who can decrypt it: an age or SSH public key.", valueName: "key"))
    var recipient: [String] = []
    @Flag(help: "Write all passwords as they are: what can read the file has them.")
    var unencrypted = false
    @Flag(help: "Replace the file where it exists.")
    var force = false
    @Option(help: "The keychain; those of the search list when left out.")
    var keychain: String?
    @OptionGroup var output: OutputOptions

    private static let task = "export"

    func validate() throws {
        guard !unencrypted || recipient.isEmpty else {
            throw ValidationError("--unencrypted and --recipient exclude each other.")
        }
    }

    func run() throws {
        let asked = Keychain(
            name: keychain, asJSON: output.json, context: AuthenticationContext())
        do throws(CommandFailure) {
            guard force || FileIdentity(file) == nil else {
                throw fileFailure(.system(PrivateFile.exists))
            }
            let items = try ExportedItems(in: asked)
            guard items.count > 0 else {
                throw CommandFailure(.notFound, name: "notFound", "there is nothing to export")
            }
            if unencrypted { try prove(asked) }
            try write(items)
            if output.json { return JSONOutput.write(ExportRecord(items)) }
            show(items)
        } catch { throw asked.failure(error) }
    }

    /// The password alone lets them go as they are, and only once its user has said so.
    private func prove(_ asked: Keychain) throws(CommandFailure) {
        guard StandardInput.isTerminal else {
            throw CommandFailure(
                .refused, name: "interactionNotAllowed",
                "could not \(Self.task): unencrypted passwords are only written after a question",
                advice: "Run it on a terminal, or encrypt for a --recipient.")
        }
        let words =
            "\(PlainText.line(file)) will hold your passwords, and they will not be encrypted. "
            + "Go on? [y/N] "
        let answer: String
        do throws(TerminalError) {
            let typed = try Terminal().ask(words, echo: true)
            answer = String(decoding: typed.releasedFromLockedMemory(), as: UTF8.self)
        } catch { throw CommandFailure(error) }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandFailure(.refused, name: "cancelled", "nothing was exported")
        }
        do throws(CommandFailure) {
            try asked.ask(Authenticate(.devicePasscode), to: Self.task)
        } catch {
            // There is none to ask for: each program of the user's has the passwords as it is.
            guard error.name == "passcodeNotSet" else { throw error }
        }
    }

    private func write(_ items: ExportedItems) throws(CommandFailure) {
        let temporary = "\(file).new-\(UInt32.random(in: 0...UInt32.max))"
        let target = try made(temporary)
        defer { PrivateFile.remove(temporary) }
        if unencrypted {
            try items.write(to: ExportTarget(target, file))
        } else {
            let age = try AgeProcess(writingTo: target, for: recipient)
            try items.write(to: ExportTarget(age.input, file))
            try age.finish()
        }
        do throws(SystemError) {
            try target.sync()
            try PrivateFile.publish(temporary, as: file, replacing: force)
        } catch { throw fileFailure(error) }
    }

    private func made(_ path: String) throws(CommandFailure) -> Descriptor {
        do throws(SystemError) { return try .creating(path) } catch { throw fileFailure(error) }
    }

    private func fileFailure(_ error: SystemError) -> CommandFailure {
        CommandFailure(file: error, file, Self.task)
    }

    private func show(_ items: ExportedItems) {
        StandardStream.output.write("Exported: \(items.count).\n")
        for (kind, count) in items.others where count > 0 {
            StandardStream.output.write("Not in it, class \(kind): \(count).\n")
        }
    }
}

/// What `export --json` says.
private struct ExportRecord: Encodable {
    let done = true
    let count: Int
    /// Items of classes that are not passwords, by class.
    let others: [String: Int]

    private enum CodingKeys: CodingKey { case done, count, others }

    init(_ items: ExportedItems) {
        count = items.count
        others = Dictionary(uniqueKeysWithValues: items.others.map { ($0.kind, $0.count) })
    }
}

/// The passwords that a user's programs let `keychainctl` have, by their references: each secret is
/// read when it is written.
struct ExportedItems {
    private static let task = "export"

    private let asked: Keychain
    private let references: [ItemReference]
    /// Those that are no passwords, by class.
    let others: [(kind: String, count: Int)]

    var count: Int { references.count }

    init(in keychain: Keychain) throws(CommandFailure) {
        asked = keychain
        var passwords: [ItemReference] = []
        var others: [(kind: String, count: Int)] = []
        for kind in ItemKind.allCases {
            var query = ItemQuery(kind.itemClass)
            query.keychain = keychain.name
            query.limit = nil
            query.returnFields = .attributes
            query.synchronizable = .any
            // A count is worth no question.
            if !kind.isPassword { query.authenticationUI = .skip }
            let found = try keychain.items(query, to: Self.task).map(\.reference)
            if kind.isPassword {
                passwords += found
            } else if !found.isEmpty {
                others.append((kind.rawValue, found.count))
            }
        }
        references = passwords
        self.others = others
    }

    func write(to target: ExportTarget) throws(CommandFailure) {
        try target.write(Self.bytes("{\"encrypted\":false,\"folders\":[],\"items\":[\n"))
        let progress = ProgressBar("Exporting", of: count)
        defer { progress.end() }
        var isFirst = true
        for reference in references {
            for item in try items(reference) {
                guard let exported = ExportedItem(item) else { continue }
                if !isFirst { try target.write(Self.bytes(",\n")) }
                isFirst = false
                try target.write(exported.json)
            }
            progress.step()
        }
        try target.write(Self.bytes("\n]}\n"))
    }

    /// None where it has gone meanwhile.
    private func items(_ reference: ItemReference) throws(CommandFailure) -> [Item] {
        var query = ItemQuery(reference.itemClass)
        query.keychain = asked.name
        query.references = [reference]
        query.returnFields = [.data, .attributes]
        query.synchronizable = .any
        return try asked.items(query, to: Self.task)
    }

    private static func bytes(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8))
    }
}

/// What the passwords are written to, piece by piece.
struct ExportTarget {
    private let descriptor: Descriptor
    /// The file's name, for what goes wrong.
    private let file: String

    init(_ descriptor: Descriptor, _ file: String) {
        (self.descriptor, self.file) = (descriptor, file)
    }

    func write(_ bytes: borrowing SecretBytes) throws(CommandFailure) {
        do throws(SystemError) { try descriptor.write(bytes) } catch {
            throw CommandFailure(file: error, file, "export")
        }
    }
}

/// age(1), which encrypts what it is given. It asks for a passphrase itself, on the terminal.
final class AgeProcess {
    private static let program = "/usr/bin/age"
    private static let task = "export"
    /// Seconds for what it was given last, and for a passphrase that is typed afterwards.
    private static let lastSeconds = 600.0

    private(set) var input: Descriptor
    private let child: ChildProcess

    init(
        writingTo output: Descriptor, for recipients: [String]
    ) throws(CommandFailure) {
        let program = try InstalledTool.path(Self.program, of: "age", to: Self.task)
        let who =
            recipients.isEmpty ? ["--passphrase"] : recipients.flatMap { ["--recipient", $0] }
        do throws(SystemError) {
            let (reading, writing) = try Descriptor.pipe()
            child = try ChildProcess.between(
                reading, output, executable: program, arguments: ["--encrypt"] + who,
                environment: [], newSession: false)
            input = writing
        } catch { throw CommandFailure(file: error, Self.program, Self.task) }
        // Where it ends early, the writing says so.
        Descriptor.ignoreBrokenPipes()
    }

    deinit { child.kill() }

    func finish() throws(CommandFailure) {
        input = Descriptor(owning: -1)
        guard child.wait(deadlineSeconds: Self.lastSeconds)?.isSuccess == true else {
            throw CommandFailure(
                .failure, name: "encryptionFailed",
                "could not \(Self.task): age did not encrypt it")
        }
    }
}
