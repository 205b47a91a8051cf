// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

/// Where an import reads from; it can be read again, and each reading is one from the beginning.
struct ImportOrigin {
    let format: ImportFormat
    /// A file, or pass's folder.
    let path: String
    /// What variables of a file of them belong to.
    let name: String
    /// KeePass's, or that of an export which has one; nil also of a database with a key file alone.
    var password: HeldSecret?
    /// Of a database of KeePass: opens it with the password, or alone.
    var keyFile: String?

    static let task = "import"

    typealias Body = (ImportedItem) throws(CommandFailure) -> Void

    /// What no item is made of, by where it stands: a line, or an entry of pass.
    enum Rest {
        /// An entry without any secret.
        case leftOut(String)
        case notBrought(String)
    }

    func read(
        _ body: Body, rest: (Rest) -> Void = { _ in }
    ) throws(CommandFailure) {
        switch format {
        case .pass, .gopass: try readStore(body, rest)
        case .keepass where isDatabase: try readKeePass(body, rest)
        case .onePassword where !path.hasSuffix(".data"):
            _ = try Self.opened(path)
            let unzip = try tool("/usr/bin/unzip", "unzip")
            try read(from: unzip, ["-p", plainPath, "export.data"], name, nil, body, rest)
        default:
            try Reader(format, name, password).read(Self.opened(path), body, rest)
        }
    }

    /// A tool that is to open a file ends in the same way where there is none as where it is wrong.
    static func opened(_ path: String) throws(CommandFailure) -> Descriptor {
        do throws(SystemError) { return try Descriptor.reading(path) } catch {
            throw CommandFailure(file: error, path, task)
        }
    }

    /// One of KeePass, and no export of one.
    var isDatabase: Bool {
        format == .keepass && !Self.isCSV(path) && !path.lowercased().hasSuffix(".xml")
    }

    static func isCSV(_ path: String) -> Bool { path.lowercased().hasSuffix(".csv") }

    private var plainPath: String { Self.plain(path) }

    /// For a tool, which could take a path for an option.
    private static func plain(_ path: String) -> String { path.hasPrefix("-") ? "./" + path : path }

    private func readKeePass(_ body: Body, _ rest: (Rest) -> Void) throws(CommandFailure) {
        let program = try tool("/usr/bin/keepassxc-cli", "keepassxc")
        // keepassxc-cli takes a line.
        var line = SecretWriter(capacity: (password?.bytes.count ?? 0) + 1)
        if let password { line.append(password.bytes) }
        line.append(SecretBytes(copying: [0x0A]))
        let typed = HeldSecret(line.finish())
        var arguments = ["export", "--quiet", "--format", "xml"]
        if let keyFile { arguments += ["--key-file", Self.plain(keyFile)] }
        if password == nil { arguments.append("--no-password") }
        do throws(CommandFailure) {
            try read(from: program, arguments + [plainPath], name, typed, body, rest)
        } catch {
            guard error.name == CommandFailure.sourceTooLarge else { throw error }
            // Its user has no such XML.
            throw CommandFailure(
                error.code, name: error.name,
                "could not \(Self.task): \(PlainText.line(path)) is larger than 64 MiB as XML",
                advice: """
                    Export it as CSV, which may be of any length, and import that: it has neither \
                    fields of your own nor earlier passwords.
                    """)
        }
    }

    private func readStore(_ body: Body, _ rest: (Rest) -> Void) throws(CommandFailure) {
        let gpg = try tool("/usr/bin/gpg", "gnupg")
        guard let store = PassStore(path) else {
            throw CommandFailure(
                .failure, name: "dataTooLarge",
                "could not \(Self.task): \(PlainText.line(path)): there are too many entries")
        }
        for name in store.passedOver { rest(.notBrought(name)) }
        let entries = store.entries
        guard !entries.isEmpty else {
            throw CommandFailure(
                .notFound, name: "noSuchFile",
                "could not \(Self.task): \(PlainText.line(path)): there are no entries of pass")
        }
        for (number, entry) in entries.enumerated() {
            try read(
                from: gpg, ["--quiet", "--decrypt", "\(plainPath)/\(entry).gpg"], entry, nil,
                { item throws(CommandFailure) in
                    // An entry has no line that anyone would look for: its number says more.
                    var item = item
                    item.line = number + 1
                    try body(item)
                },
                {
                    switch $0 {
                    case .leftOut: rest(.leftOut(entry))
                    case .notBrought: rest(.notBrought(entry))
                    }
                })
        }
    }

    private func tool(_ path: String, _ package: String) throws(CommandFailure) -> String {
        try InstalledTool.path(path, of: package, to: Self.task)
    }

    /// Seconds in which a tool ends whose output was read to its end.
    private static let lastSeconds = 60.0
    /// The same where the reading broke off, which may be because of how the tool ended.
    private static let lastSecondsOfFailed = 2.0

    /// What a tool makes of the source goes from it to the reader, and through no file.
    private func read(
        from program: String, _ arguments: [String], _ name: String, _ input: HeldSecret?,
        _ body: Body, _ rest: (Rest) -> Void
    ) throws(CommandFailure) {
        let started: (child: ChildProcess, output: Descriptor)
        do throws(SystemError) {
            started = try start(program, arguments, input)
        } catch {
            throw CommandFailure(
                .failure, name: "programMissing", "could not \(Self.task): \(program) can't be run")
        }
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try Reader(format, name).read(started.output, body, rest)
        } catch { failure = error }
        let ended = started.child.wait(
            deadlineSeconds: failure == nil ? Self.lastSeconds : Self.lastSecondsOfFailed)
        // It would wait for ever for what it wrote to be read: the reading broke off by itself.
        if ended == nil, let failure { throw failure }
        // What a tool that failed has said is worth nothing.
        if ended?.isSuccess != true, failure == nil || failure?.name == Reader.unreadable {
            throw CommandFailure(
                .notAuthenticated, name: "notOpened",
                "could not \(Self.task): \(program) could not open \(PlainText.line(name.isEmpty ? path : name))",
                advice: "\(possibleCauses) Nothing was added.")
        }
        if let failure { throw failure }
    }

    /// Why a tool may not have opened the source: how it ends does not tell.
    private var possibleCauses: String {
        switch (isDatabase, keyFile != nil, password != nil) {
        case (false, _, _): "A wrong password, a key that is missing, or a damaged file."
        case (true, false, _): "A wrong password, a missing --key-file, or a damaged file."
        case (true, true, true): "A wrong password, a wrong key file, or a damaged file."
        case (true, true, false): "A wrong key file, a missing password, or a damaged file."
        }
    }

    private func start(
        _ program: String, _ arguments: [String], _ input: HeldSecret?
    ) throws(SystemError) -> (ChildProcess, Descriptor) {
        let (reading, writing) = try Descriptor.pipe()
        let given = try input.map { secret throws(SystemError) in
            try SecretPipe.filled(with: secret.bytes)
        }
        let variables = Self.passedOn.compactMap { name in
            ProcessEnvironment[name].map { "\(name)=\($0)" }
        }
        // gpg asks on the terminal where its agent says so.
        let child = try ChildProcess.between(
            given, writing, executable: program, arguments: arguments,
            environment: variables + ["LC_ALL=C.UTF-8"], newSession: input != nil)
        return (child, reading)
    }

    private static let passedOn = [
        "HOME", "GNUPGHOME", "GPG_TTY", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS", "PATH",
    ]
}

/// The names of the entries of pass or gopass. The store itself may be a link.
struct PassStore {
    private static let deepest = 16
    private static let mostNames = 100_000

    private let folder: String
    private let most: Int
    /// Without their ending, in order.
    private(set) var entries: [String] = []
    /// Links below it, which may lead out of the store or back into it, and folders that lie too deep.
    private(set) var passedOver: [String] = []

    /// nil where there are too many.
    init?(_ folder: String, most: Int = mostNames) {
        self.folder = folder
        self.most = most
        guard take("", 0) else { return nil }
        entries.sort()
        passedOver.sort()
    }

    private mutating func take(_ below: String, _ depth: Int) -> Bool {
        for name in FolderNames.all(in: folder + "/" + below) where !name.hasPrefix(".") {
            guard entries.count + passedOver.count < most else { return false }
            let isEntry = name.hasSuffix(".gpg")
            switch FileStatus(folder + "/" + below + name)?.kind {
            case .file where isEntry: entries.append(below + name.dropLast(4))
            case .folder where depth + 1 < Self.deepest:
                guard take(below + name + "/", depth + 1) else { return false }
            case .folder, .other: passedOver.append(below + name)
            case .file, nil: continue
            }
        }
        return true
    }
}

/// The process that reads a source, which has no keychain and gets nothing but the source.
private struct Reader {
    static let unreadable = "sourceUnreadable"
    private static let program = "keychainctl-import"
    /// Seconds without a word; a tool may ask its user meanwhile.
    private static let longestPause = 600.0

    /// Where it finds the password of an export.
    private static let passwordDescriptor: Int32 = 3

    private let format: ImportFormat
    private let name: String
    private let password: HeldSecret?

    init(_ format: ImportFormat, _ name: String, _ password: HeldSecret? = nil) {
        self.format = format
        self.name = name
        self.password = password
    }

    func read(
        _ source: Descriptor, _ body: ImportOrigin.Body, _ rest: (ImportOrigin.Rest) -> Void
    ) throws(CommandFailure) {
        guard let path = InstalledProgram.companion(Self.program),
            let (child, output) = try? start(path, source)
        else {
            throw CommandFailure(
                .failure, name: "programMissing", "\(Self.program) can't be started",
                advice: "It is installed together with keychainctl.")
        }
        defer { child.kill() }
        let input = SecretInput(output)
        let buffer = SecretBuffer(limit: 2 * ImportFrame.longest)
        while let piece = try? next(input, output), piece.count > 0, buffer.append(piece) {
            var position = 0
            while let message = try next(buffer, &position) {
                switch message {
                case .item(let item): try body(item)
                case .leftOut(let line): rest(.leftOut("line \(line)"))
                case .notBrought(let line): rest(.notBrought("line \(line)"))
                case .failed(let error): throw CommandFailure(error)
                case .finished: return
                }
            }
            if position > 0 { buffer.removeFirst(position) }
        }
        throw Self.broken
    }

    private func next(
        _ input: SecretInput, _ descriptor: Descriptor
    ) throws(SystemError) -> SecretBytes {
        let deadline = ContinuousClock.now + .seconds(Self.longestPause)
        try Wait.until(Wait.input, descriptor.number, deadline: deadline)
        return try input.next()
    }

    private func next(
        _ buffer: SecretBuffer, _ position: inout Int
    ) throws(CommandFailure) -> ImportMessage? {
        do { return try ImportFrame.take(from: buffer, at: &position) } catch { throw Self.broken }
    }

    private func start(
        _ path: String, _ source: Descriptor
    ) throws(SystemError) -> (ChildProcess, Descriptor) {
        let (reading, writing) = try Descriptor.pipe()
        let given = try password.map { secret throws(SystemError) in
            try SecretPipe.filled(with: secret.bytes)
        }
        let child = try ChildProcess.between(
            source, writing, passing: given.map { [($0, Self.passwordDescriptor)] } ?? [],
            executable: path,
            arguments: [format.rawValue, name] + (given == nil ? [] : ["password"]),
            environment: [], newSession: true)
        return (child, reading)
    }

    private static let broken = CommandFailure(
        .failure, name: unreadable, "could not import: the reader of the source broke off",
        advice: "Run it again: what is there already is not added twice.")
}

extension CommandFailure {
    /// Of a source that is not as its format has it.
    init(_ error: ImportError) {
        let beginning = "could not import: "
        var advice: String? = "Nothing was added."
        var name = "sourceUnreadable"
        let sentence: String
        switch error {
        case .notUTF8(let line):
            sentence = "line \(line) is no UTF-8"
            advice = "Nothing was added. iconv -f LATIN1 -t UTF-8 makes it so, of Latin-1."
        case .zeroByte(let line): sentence = "line \(line) has a zero byte in it"
        case .wrongColumns(let line, let found, let expected):
            sentence = "line \(line) has \(found) columns, and the first line has \(expected)"
        case .openQuote(let line): sentence = "the quotes of line \(line) don't close"
        case .tooLong(let line): sentence = "line \(line) is too long"
        case .tooLarge:
            sentence = "the source is larger than 64 MiB"
            name = Self.sourceTooLarge
        case .malformed(let line): sentence = "line \(line) is not as the format has it"
        case .unknownColumns:
            sentence = "the first line names no column of passwords, or none that says what for"
            advice = "It should name password and url, name or title; username, too."
        case .encryptedForAccount:
            sentence = "the export is encrypted with the account's key"
            advice = "Export it once more as plain JSON, or with a password of its own."
        case .encryptedByPassword:
            sentence = "the export is encrypted with a password of its own"
            name = Self.exportPasswordMissing
        case .wrongPassword:
            sentence = "that is not the export's password"
            name = "wrongPassword"
        case .unsupportedKey:
            sentence = "its password is made a key in a way that is not known here"
            advice = "PBKDF2 is. With Argon2id, export it as plain JSON, and add --shred."
        case .unknownFormat, .inputOutput: sentence = "the source can't be read"
        }
        let code: ResultCode = error == .wrongPassword ? .notAuthenticated : .failure
        self.init(code, name: name, beginning + sentence, advice: advice)
    }

    static let exportPasswordMissing = "exportPasswordMissing"
    static let sourceTooLarge = "dataTooLarge"
}
