// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Bring passwords from another program or file.",
        discussion: """
            Shows first what would be added and what is there already, and adds after a yes. An \
            item that is there stays as it is. Run again, it adds nothing twice; --undo takes an \
            import back. The source stays, but for --shred.

            Formats: \(formats). csv is what Chrome, Firefox, Safari, KeePassXC, Bitwarden, \
            1Password and LastPass export.
            """)

    @Argument(help: ArgumentHelp("What it is brought from.", valueName: "format"))
    var format: ImportFormat?
    @Argument(help: "The file or folder; the usual one of the format when left out.")
    var path: String?

    @Option(help: "The keychain; the default keychain when left out.")
    var keychain: String?
    @Option(help: "What the variables of an .env file belong to; its folder's name when left out.")
    var name: String?
    @Flag(help: "Show what would be added, and end.")
    var dryRun = false
    @Flag(help: "Add without a question.")
    var yes = false
    @Flag(help: "Overwrite and delete the file once all of it is in the keychain.")
    var shred = false
    @Option(help: ArgumentHelp("Delete what the import of that number added.", valueName: "number"))
    var undo: Int64?
    @Option(help: ArgumentHelp("The key file of a KDBX file.", valueName: "file"))
    var keyFile: String?
    @Flag(help: "The KDBX file has a key file, and no password.")
    var noPassword = false
    @Option(help: ArgumentHelp("Of secret-service: its name on the bus.", valueName: "name"))
    var from: String?
    @Option(help: "Of secret-service: the collection, by its name or label; all when left out.")
    var collection: String?
    @OptionGroup var password: PasswordOptions
    @OptionGroup var output: OutputOptions

    /// Of imports: positive, and so that a person can type it. Items of other programs have other
    /// numbers in the same attribute.
    private static let numbers: ClosedRange<Int64> = 100_000_000...999_999_999
    private static let mostTries = 16
    private static let usualService = "org.freedesktop.secrets"
    private static let formats = ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")

    func validate() throws {
        if let undo {
            guard format == nil, !dryRun, !shred, keyFile == nil, !noPassword, from == nil,
                collection == nil
            else {
                throw ValidationError("--undo takes a number, and nothing else.")
            }
            guard Self.numbers.contains(undo) else {
                throw ValidationError("--undo takes the number of an import.")
            }
            return
        }
        guard let format else { throw ValidationError("Say from what: \(Self.formats).") }
        guard !(dryRun && (yes || shred)) else {
            throw ValidationError("--dry-run excludes --yes and --shred.")
        }
        guard !shred || ![.pass, .gopass, .secretService].contains(format) else {
            throw ValidationError("--shred is for a file; the entries of \(format.rawValue) stay.")
        }
        // Attachments are not brought; of KeePass' history nothing but the passwords; of a keyring no
        // programs that it let in.
        let isWhole = ![.onePassword, .keepass, .gnomeKeyring].contains(format)
        guard !shred || isWhole || path.map(ImportOrigin.isCSV) == true else {
            throw ValidationError("--shred is not for this format: not all of it is brought.")
        }
        guard format != .secretService || path == nil else {
            throw ValidationError("--from says which service it is; secret-service has no path.")
        }
        guard format == .secretService || (from == nil && collection == nil) else {
            throw ValidationError("--from and --collection are for secret-service.")
        }
        guard let path = path ?? usualPath else {
            throw ValidationError("Say which file it is in.")
        }
        try checkKey(of: ImportOrigin(format: format, path: path, name: ""))
    }

    private func checkKey(of origin: ImportOrigin) throws(ValidationError) {
        guard keyFile == nil || origin.isDatabase else {
            throw ValidationError("--key-file is for a KDBX file of KeePass.")
        }
        guard !noPassword || keyFile != nil else {
            throw ValidationError("--no-password goes with --key-file.")
        }
        guard !(noPassword && password.passwordStdin) else {
            throw ValidationError("--no-password and --password-stdin exclude each other.")
        }
    }

    func run() throws {
        var asked = Keychain(name: keychain, asJSON: output.json)
        do throws(CommandFailure) {
            if keychain == nil {
                let preferences = try asked.preferences(nil, to: ImportOrigin.task)
                let known = preferences.defaultKeychain?.description
                asked = Keychain(name: known, asJSON: output.json)
            }
            // What the user proves serves all that the command asks for.
            asked = Keychain(
                name: asked.name, asJSON: output.json, context: AuthenticationContext())
            if let undo { return try takeBack(undo, asked) }
            try bring(into: asked)
        } catch { throw asked.failure(error) }
    }

    private func takeBack(_ number: Int64, _ asked: Keychain) throws(CommandFailure) {
        let undone = try ImportRun.undo(number, in: asked)
        if output.json { return JSONOutput.write(UndoRecord(undone)) }
        ImportText(style: TextStyle(.output)).show(undone)
    }

    private func bring(into asked: Keychain) throws(CommandFailure) {
        try checkIsOpen(asked)
        var origin = try origin()
        let stamp = FileStamp(origin.path)
        let plan = try plan(&origin, asked)
        let text = ImportText(style: TextStyle(.output))
        if !output.json { text.show(plan) }
        guard !dryRun, plan.items > 0, try isWanted(plan) else {
            if output.json { JSONOutput.write(ImportRecord(plan)) }
            return
        }
        let run = try add(origin, plan, asked)
        var failure: CommandFailure?
        if shred {
            do throws(CommandFailure) { try removeSource(origin, stamp, plan, run) } catch {
                failure = error
            }
        }
        // What was added, and how it is taken back, is said whatever became of the file.
        if output.json { JSONOutput.write(ImportRecord(plan, run)) } else { text.show(run) }
        if let failure { throw failure }
    }

    /// A locked keychain shows no items, and everything would look new.
    private func checkIsOpen(_ asked: Keychain) throws(CommandFailure) {
        let name = asked.name ?? KeychainName.login.description
        let status = try asked.status().keychains.first { $0.name == name }
        guard status.map({ $0.lockState == .unlocked }) ?? true else {
            throw CommandFailure(.state(.locked), ImportOrigin.task, keychain: name)
        }
    }

    /// Only its reader can tell whether an export has a password.
    private func plan(
        _ origin: inout ImportOrigin, _ asked: Keychain
    ) throws(CommandFailure) -> ImportPlan {
        let there =
            origin.format.isAttributed
            ? try AttributedItems.existing(in: asked) : AttributedItems()
        do throws(CommandFailure) { return try plan(origin, there, asked) } catch {
            guard error.name == CommandFailure.exportPasswordMissing else { throw error }
        }
        origin.password = try filePassword(origin.path)
        return try plan(origin, there, asked)
    }

    private func plan(
        _ origin: ImportOrigin, _ there: AttributedItems, _ asked: Keychain
    ) throws(CommandFailure) -> ImportPlan {
        let progress = ProgressBar("Reading")
        defer { progress.end() }
        return try ImportPlan(origin, into: asked, beside: there, progress)
    }

    private func filePassword(_ path: String) throws(CommandFailure) -> HeldSecret {
        try SecretReading.passwords(
            ["Password of \(PlainText.line(path)): "], fromInput: password.passwordStdin)[0]
    }

    /// Without a terminal to ask on, only what was said beforehand counts.
    private func isWanted(_ plan: ImportPlan) throws(CommandFailure) -> Bool {
        if yes { return true }
        guard StandardInput.isTerminal, !output.json else {
            if !output.json {
                StandardStream.output.write("Nothing was added; --yes adds it.\n")
            }
            return false
        }
        let answer: String
        do throws(TerminalError) {
            let typed = try Terminal().ask("Add \(plan.new.count)? [y/N] ", echo: true)
            answer = String(decoding: typed.releasedFromLockedMemory(), as: UTF8.self)
        } catch { throw CommandFailure(error) }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            StandardStream.output.write("Nothing was added.\n")
            return false
        }
        return true
    }

    private func add(
        _ origin: ImportOrigin, _ plan: ImportPlan, _ asked: Keychain
    ) throws(CommandFailure) -> ImportRun {
        let (number, receipt) = try begin(asked)
        receipt.write("Import \(number) of \(origin.format.rawValue) from \(origin.path)")
        receipt.write("into the keychain \(asked.name ?? KeychainName.login.description).")
        let progress = ProgressBar("Adding", of: plan.items)
        var run = ImportRun(number: number, into: asked, plan, progress)
        do throws(CommandFailure) {
            try origin.read { item throws(CommandFailure) in try run.add(item) }
            try run.finish()
        } catch {
            progress.end()
            receipt.write("It broke off after \(run.added) items.")
            throw CommandFailure(
                error.code, name: error.name, error.message,
                advice: """
                    Added: \(run.added). Run it again for the others; keychainctl import --undo \
                    \(number) takes them back.
                    """)
        }
        progress.end()
        receipt.write("Added: \(run.added). There already, and the same: \(run.same).")
        for name in run.different { receipt.write("There with another secret: \(name)") }
        for name in plan.leftOut.shown { receipt.write("Without a secret: \(name)") }
        for name in plan.notBrought.shown { receipt.write("Not brought: \(name)") }
        return run
    }

    /// A number that no import has had, by the receipts, nor any item of the keychain.
    private func begin(_ asked: Keychain) throws(CommandFailure) -> (Int64, ImportReceipt) {
        for _ in 0..<Self.mostTries {
            let number = Int64.random(in: Self.numbers)
            guard try !ImportRun.isTaken(number, in: asked) else { continue }
            do throws(SystemError) { return (number, try ImportReceipt(number: number)) } catch {
                guard error == .system(PrivateFile.exists) else { break }
            }
        }
        throw CommandFailure(
            .failure, name: "inputOutput", "could not import: no receipt can be written",
            advice: "It is kept in ~/.local/state/keychain/imports. Nothing was added.")
    }

    private func removeSource(
        _ origin: ImportOrigin, _ stamp: FileStamp?, _ plan: ImportPlan, _ run: ImportRun
    ) throws(CommandFailure) {
        guard run.different.isEmpty, run.unlike.isEmpty, plan.leftOut.count == 0,
            plan.notBrought.count == 0, let stamp, FileStamp(origin.path) == stamp
        else {
            StandardStream.error.write(
                "keychainctl: The file stays: not all of it is in the keychain, or it has changed.\n"
            )
            return
        }
        do { try PrivateFile.shred(origin.path, stamp) } catch {
            throw CommandFailure(file: error, origin.path, "delete the source")
        }
    }

    private func origin() throws(CommandFailure) -> ImportOrigin {
        guard let format, let path = path ?? usualPath else {
            throw CommandFailure(.invalid(.badRequest), ImportOrigin.task, keychain: nil)
        }
        var origin = ImportOrigin(
            format: format, path: path, name: format == .env ? variablesOwner(path) : "")
        origin.collection = collection
        // Before the user is asked for anything.
        if format == .gnomeKeyring { _ = try ImportOrigin.opened(path) }
        guard origin.isDatabase else { return origin }
        for file in [path, keyFile].compactMap(\.self) { _ = try ImportOrigin.opened(file) }
        origin.keyFile = keyFile
        if !noPassword { origin.password = try filePassword(path) }
        return origin
    }

    /// The name of the folder that the file lies in.
    private func variablesOwner(_ path: String) -> String {
        if let name { return name }
        let folder = path.hasPrefix("/") ? "" : (ProcessEnvironment["PWD"] ?? ".") + "/"
        let whole = InstalledProgram.resolved(folder + path) ?? path
        let parts = whole.split(separator: "/")
        return parts.count > 1 ? String(parts[parts.count - 2]) : "env"
    }

    private var usualPath: String? {
        if let path { return path }
        guard let home = ProcessEnvironment["HOME"] ?? UserAccount.own?.home else { return nil }
        return switch format {
        case .netrc: home + "/.netrc"
        case .gitCredentials: home + "/.git-credentials"
        case .docker: home + "/.docker/config.json"
        case .pypirc: home + "/.pypirc"
        case .aws: home + "/.aws/credentials"
        case .env: ".env"
        case .pass: ProcessEnvironment["PASSWORD_STORE_DIR"] ?? home + "/.password-store"
        case .gopass: home + "/.local/share/gopass/stores/root"
        case .gnomeKeyring:
            (ProcessEnvironment["XDG_DATA_HOME"] ?? home + "/.local/share")
                + "/keyrings/login.keyring"
        case .secretService: from ?? Self.usualService
        case .csv, .bitwarden, .onePassword, .keepass, nil: nil
        }
    }
}

extension ImportFormat: ExpressibleByArgument {}

/// What an import would do, and what it did, for people.
private struct ImportText {
    let style: TextStyle
    private static let mostShown = 20

    func show(_ plan: ImportPlan) {
        var text = ""
        text += list(plan.new, "To add")
        text += list(plan.clashing, "There already, and stays as it is")
        text += list(plan.repeated, "More than once in the source; the first counts")
        text += list(plan.leftOut, "Without a secret, and left out")
        text += list(plan.notBrought, "Not brought, and in the source alone")
        StandardStream.output.write(text.isEmpty ? "Nothing is in it.\n" : text)
    }

    private func list(_ names: ImportPlan.Names, _ heading: String) -> String {
        guard names.count > 0 else { return "" }
        let most = StandardStream.output.isTerminal ? Self.mostShown : names.shown.count
        var lines = [style.bold("\(heading): \(names.count)")]
        lines += names.shown.prefix(most).map { "  " + PlainText.line($0) }
        if names.count > most { lines.append("  and \(names.count - most) more") }
        return lines.joined(separator: "\n") + "\n"
    }

    func show(_ run: ImportRun) {
        var text =
            "Added: \(run.added). keychainctl import --undo \(run.number) takes that back.\n"
        if run.same > 0 { text += "There with the same secret: \(run.same)\n" }
        if !run.different.isEmpty {
            text += "There with another secret, and stays as it is: \(run.different.count)\n"
            for name in run.different.prefix(Self.mostShown) {
                text += "  \(PlainText.line(name))\n"
            }
        }
        if !run.unlike.isEmpty {
            text += "There with the same secret, and described otherwise: \(run.unlike.count)\n"
            for name in run.unlike.prefix(Self.mostShown) {
                text += "  \(PlainText.line(name))\n"
            }
        }
        StandardStream.output.write(text)
    }

    func show(_ undone: ImportRun.Undone) {
        var text = "Deleted: \(undone.count).\n"
        if !undone.changed.isEmpty {
            text += "Changed since the import, and not deleted: \(undone.changed.count)\n"
            for name in undone.changed { text += "  \(PlainText.line(name))\n" }
        }
        StandardStream.output.write(text)
    }
}

/// What `import --undo --json` says.
private struct UndoRecord: Encodable {
    let done = true
    let count: Int
    /// Those that were changed since, and stay.
    let changed: [String]

    private enum CodingKeys: CodingKey { case done, count, changed }

    init(_ undone: ImportRun.Undone) { (count, changed) = (undone.count, undone.changed) }
}

/// What `import --json` says.
private struct ImportRecord: Encodable {
    let done: Bool
    /// How many are new to the keychain.
    let new: Int
    let there: [String]
    let repeated: [String]
    let leftOut: [String]
    let notBrought: [String]
    let added: Int?
    let same: Int?
    let different: [String]?
    /// With the same secret, and described otherwise.
    let unlike: [String]?
    /// For --undo.
    let number: Int64?

    init(_ plan: ImportPlan, _ run: ImportRun? = nil) {
        done = run != nil
        new = plan.new.count
        there = plan.clashing.shown
        repeated = plan.repeated.shown
        leftOut = plan.leftOut.shown
        notBrought = plan.notBrought.shown
        added = run?.added
        same = run?.same
        different = run?.different
        unlike = run?.unlike
        number = run?.number
    }
}
