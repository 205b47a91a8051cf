// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLinuxSystem
internal import Terminal

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a whole keychain, as sealed as it is, to a file.",
        discussion: """
            The copy opens with the password that the keychain has now. It can be made while the \
            keychain is in use or locked, and is looked through before it gets its name.
            """)

    @Argument(help: "The file to make.")
    var file: String

    @Option(help: "The keychain's name; the login keychain when left out.")
    var keychain: String?

    @Flag(help: "Replace the file where it exists.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: keychain, asJSON: output.json)
        let bytes: UInt64
        do throws(CommandFailure) {
            bytes = try BackupWriting(keychain, file, replacing: force).run()
        } catch { throw keychain.failure(error) }
        if output.json { return JSONOutput.write(BackupRecord(bytes: bytes)) }
        if keychain.name == KeychainName.system.description { sayWhereItOpens(keychain) }
    }

    /// There is no password for the machine's: when the machine is gone, it is too late.
    private func sayWhereItOpens(_ keychain: Keychain) {
        let verb = ListProtectors(keychain: keychain.name)
        guard let all = try? keychain.ask(verb, to: "see what opens it"),
            !all.contains(where: { $0.kind == .recoveryKey || $0.kind == .credential })
        else { return }
        StandardStream.error.write(
            """
            keychainctl: only this machine opens what is in it. For another one, first: \
            keychainctl protector add recovery-key --keychain \(KeychainName.system)

            """)
    }
}

struct BackupRecord: Encodable {
    let done = true
    let bytes: UInt64

    private enum CodingKeys: CodingKey { case done, bytes }
}

/// Puts a backup together under another name, and gives it its own when it is whole.
private struct BackupWriting {
    private let keychain: Keychain
    private let target: String
    private let replacing: Bool
    private let task: String

    init(_ keychain: Keychain, _ target: String, replacing: Bool) {
        self.keychain = keychain
        self.target = target
        self.replacing = replacing
        task = "back up the keychain “\(keychain.name ?? KeychainName.login.description)”"
    }

    /// Bytes of the file.
    func run() throws(CommandFailure) -> UInt64 {
        if !replacing, FileIdentity(target) != nil {
            throw fileFailure(.system(PrivateFile.exists))
        }
        let temporary = "\(target).new-\(UInt32.random(in: 0...UInt32.max))"
        let file: PieceFile
        do { file = try PieceFile(creating: temporary) } catch { throw fileFailure(error) }
        defer { try? PrivateFile.removeDatabase(temporary) }
        let copied = try fill(file)
        do throws(BackupFile.Failure) {
            // As the disk has it, not as it was written.
            guard try BackupFile(verifying: temporary).bytes == copied else { throw .damaged }
        } catch {
            throw CommandFailure(.failure, backup: error, temporary, task)
        }
        do {
            try PrivateFile.publish(temporary, as: target, replacing: replacing)
        } catch { throw fileFailure(error) }
        return copied + UInt64(BackupFile.headerBytes)
    }

    private func fill(_ file: PieceFile) throws(CommandFailure) -> UInt64 {
        let transfer = try keychain.ask(BeginBackup(keychain: keychain.name), to: task)
        var digest = BackupDigest()
        var offset: UInt64 = 0
        let progress = ProgressBar("Copying", of: Int(clamping: transfer.bytes))
        defer { progress.end() }
        while true {
            let piece = try keychain.ask(
                ReadBackup(
                    keychain: keychain.name, transfer: transfer.identifier, offset: offset),
                to: task
            ).bytes
            digest.add(piece)
            do {
                try file.write(piece, at: UInt64(BackupFile.headerBytes) + offset)
            } catch { throw fileFailure(error) }
            offset += UInt64(piece.count)
            progress.step(piece.count)
            if piece.count < BackupPiece.mostBytes { break }
        }
        guard offset == transfer.bytes else { throw broken }
        do {
            try file.write(BackupFile.header(bytes: offset, digest: digest.bytes), at: 0)
            try file.sync()
        } catch { throw fileFailure(error) }
        return offset
    }

    private var broken: CommandFailure {
        CommandFailure(.failed(.internalError), task, keychain: keychain.name)
    }

    private func fileFailure(_ error: SystemError) -> CommandFailure {
        CommandFailure(file: error, target, task)
    }
}
