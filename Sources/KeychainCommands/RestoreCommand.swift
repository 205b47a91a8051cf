// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup, or an earlier state, in a keychain's place.",
        discussion: """
            The keychain that is replaced becomes a generation: it can be had back in the same way. \
            The restored one is locked, and opens with the password that it had then.
            """)

    @Argument(help: "A file that keychainctl backup made.")
    var file: String?

    @Option(help: ArgumentHelp("An earlier state that was kept.", valueName: "number"))
    var generation: Int?

    @Flag(help: "Show the earlier states that are kept.")
    var list = false

    @Option(help: "The keychain's name; the login keychain when left out.")
    var keychain: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [file != nil, generation != nil, list].count(where: \.self) == 1 else {
            throw ValidationError("Give a file, or --generation, or --list.")
        }
        if let generation, !(1...Int(Int32.max)).contains(generation) {
            throw ValidationError("Generations are numbered from 1.")
        }
    }

    func run() throws {
        let keychain = Keychain(name: keychain, asJSON: output.json)
        do throws(CommandFailure) {
            let restoring = Restoring(keychain)
            if list {
                show(try restoring.generations())
            } else if let generation {
                show(try restoring.restore(generation: generation), keychain)
            } else if let file {
                show(try restoring.restore(file: file), keychain)
            }
        } catch { throw keychain.failure(error) }
    }

    private func show(_ generations: [Generation]) {
        if output.json { return JSONOutput.write(GenerationsRecord(generations)) }
        let lines = generations.map {
            "\($0.number)  \($0.time)  \($0.bytes / 1024) KiB\n"
        }
        StandardStream.output.write(lines.isEmpty ? "none\n" : lines.joined())
    }

    private func show(_ kept: RestoredKeychain, _ keychain: Keychain) {
        if output.json { return JSONOutput.write(RestoredRecord(kept)) }
        let name = PlainText.line(keychain.name ?? KeychainName.login.description)
        var lines = ["The keychain “\(name)” is restored."]
        if kept.replaced > 0 {
            lines.append("What was there before is generation \(kept.replaced).")
        }
        if kept.setAside > 0 {
            lines.append(
                """
                \(kept.setAside) of its records are damaged or bound to another device; they are \
                kept aside in it.
                """)
        }
        lines += closedForServices(keychain)
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }

    /// The machine's opens by itself, or a person has to see to it.
    private func closedForServices(_ keychain: Keychain) -> [String] {
        let system = KeychainName.system.description
        guard keychain.name == system,
            let status = try? keychain.status().keychains.first(where: { $0.name == system }),
            let problem = status.problem
        else { return [] }
        let meaning = ErrorMeaning(problem, keychain: system)
        return ["It is closed to services: \(meaning.sentence)."]
            + [meaning.advice].compactMap { $0 }
    }
}

/// Takes a copy back.
private struct Restoring {
    private let keychain: Keychain
    private let task: String

    init(_ keychain: Keychain) {
        self.keychain = keychain
        task = "restore the keychain “\(keychain.name ?? KeychainName.login.description)”"
    }

    func generations() throws(CommandFailure) -> [Generation] {
        try keychain.ask(ListGenerations(keychain: keychain.name), to: "list the earlier states")
    }

    func restore(generation: Int) throws(CommandFailure) -> RestoredKeychain {
        guard try generations().contains(where: { $0.number == generation }) else {
            throw CommandFailure(
                .notFound, name: "noSuchGeneration",
                "could not \(task): there is no generation \(generation)",
                advice: "keychainctl restore --list shows those that are kept.")
        }
        return try keychain.ask(
            RestoreGeneration(keychain: keychain.name, generation: generation), to: task)
    }

    func restore(file path: String) throws(CommandFailure) -> RestoredKeychain {
        let file: BackupFile
        do { file = try BackupFile(verifying: path) } catch {
            throw CommandFailure(backup: error, path, task)
        }
        return try send(file, path)
    }

    private func send(_ file: BackupFile, _ path: String) throws(CommandFailure) -> RestoredKeychain
    {
        let name = keychain.name
        let transfer = try keychain.ask(BeginRestore(keychain: name), to: task).identifier
        for offset in file.pieceOffsets {
            let piece: [UInt8]
            do { piece = try file.piece(at: offset) } catch {
                throw CommandFailure(backup: error, path, task)
            }
            try keychain.ask(
                SendRestore(keychain: name, transfer: transfer, piece: piece), to: task)
        }
        return try keychain.ask(
            FinishRestore(keychain: name, transfer: transfer, digest: file.digest), to: task)
    }
}

extension Generation {
    fileprivate var time: String {
        Date(timeIntervalSince1970: made).formatted(.iso8601)
    }
}

private struct GenerationsRecord: Encodable {
    struct Record: Encodable {
        let number: Int
        let made: String
        let bytes: UInt64
    }
    let generations: [Record]

    init(_ generations: [Generation]) {
        self.generations = generations.map {
            Record(number: $0.number, made: $0.time, bytes: $0.bytes)
        }
    }
}

private struct RestoredRecord: Encodable {
    let done = true
    /// The generation that the replaced keychain became.
    let replaced: Int?
    let setAside: Int

    private enum CodingKeys: CodingKey { case done, replaced, setAside }

    init(_ kept: RestoredKeychain) {
        replaced = kept.replaced > 0 ? kept.replaced : nil
        setAside = kept.setAside
    }
}
