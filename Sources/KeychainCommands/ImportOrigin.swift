// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

/// Where an import reads from; it can be read again, and each reading is one from the beginning.
struct ImportOrigin {
    let format: ImportFormat
    /// A file, pass's folder, or the name of a service on the bus.
    let path: String
    /// What variables of a file of them belong to.
    let name: String
    /// KeePass's, or that of an export which has one; nil also of a database with a key file alone.
    var password: HeldSecret?
    /// Of a database of KeePass: opens it with the password, or alone.
    var keyFile: String?
    /// Of a service: its path's last element or its label.
    var collection: String?

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
        case .secretService: try Reader(format, path).readService(collection, body, rest)
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

    /// Tools end in the same way where there is no file as where they can't read it: so it is opened
    /// here first.
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
            // The user has a database, and knows nothing of XML.
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
                .failure, name: CommandFailure.dataTooLarge,
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
                    // Each entry is a file of its own: its number among them says more than a line.
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
        // The tool still waits for its output to be read: so the reading broke off by itself.
        if ended == nil, let failure { throw failure }
        // Of a tool that failed, what it wrote may be a part of the source only.
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
        try read(
            source, [format.rawValue, name] + (password == nil ? [] : ["password"]), body, rest)
    }

    /// From a bus: the reader gets its address, and nothing to read.
    func readService(
        _ collection: String?, _ body: ImportOrigin.Body, _ rest: (ImportOrigin.Rest) -> Void
    ) throws(CommandFailure) {
        let address = ProcessEnvironment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        // A pipe that nothing writes to ends at once.
        guard let (nothing, _) = try? Descriptor.pipe() else { throw Self.broken }
        try read(
            nothing, [format.rawValue, name, address] + (collection.map { [$0] } ?? []), body, rest)
    }

    private func read(
        _ source: Descriptor, _ arguments: [String], _ body: ImportOrigin.Body,
        _ rest: (ImportOrigin.Rest) -> Void
    ) throws(CommandFailure) {
        guard let path = InstalledProgram.companion(Self.program),
            let (child, output) = try? start(path, arguments, source)
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
                case .skipped(let name, let why): rest(.notBrought("\(name): \(why.words)"))
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
        let deadline = BootTime.now + .seconds(Self.longestPause)
        try Wait.until(Wait.input, descriptor.number, deadline: deadline)
        return try input.next()
    }

    private func next(
        _ buffer: SecretBuffer, _ position: inout Int
    ) throws(CommandFailure) -> ImportMessage? {
        do { return try ImportFrame.take(from: buffer, at: &position) } catch { throw Self.broken }
    }

    private func start(
        _ path: String, _ arguments: [String], _ source: Descriptor
    ) throws(SystemError) -> (ChildProcess, Descriptor) {
        let (reading, writing) = try Descriptor.pipe()
        let given = try password.map { secret throws(SystemError) in
            try SecretPipe.filled(with: secret.bytes)
        }
        let child = try ChildProcess.between(
            source, writing, passing: given.map { [($0, Self.passwordDescriptor)] } ?? [],
            executable: path, arguments: arguments, environment: [], newSession: true)
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
            sentence = "the file is encrypted with a password of its own"
            name = Self.exportPasswordMissing
        case .wrongPassword:
            sentence = "that is not the file's password"
            name = "wrongPassword"
        case .unsupportedKey:
            sentence = "its password is made a key in a way that is not known here"
            advice = """
                Of Bitwarden's exports PBKDF2 is: with Argon2id, export it as plain JSON, and add \
                --shred. Of keyrings AES and MD5 are.
                """
        case .damaged: sentence = "the file is not as its format has it"
        case .noService:
            sentence = "no program on your bus has that name"
            name = "serviceMissing"
            advice = """
                The other service has to run, in the same login. --from says which it is: \
                org.gnome.keyring, or what busctl --user list shows.
                """
        case .ownService:
            sentence = "that is keychain-secrets itself, whose items are here already"
            advice = "--from names another service, as org.gnome.keyring."
        case .noCollection: sentence = "the service has no such collection"
        case .lockedCollection:
            sentence = "the service did not unlock its collection"
            name = "sourceLocked"
            advice = "Unlock it, and run this again. Nothing was added."
        case .strangeService: sentence = "the service did not answer as one does"
        case .unknownFormat, .inputOutput: sentence = "the source can't be read"
        }
        let code: ResultCode = error == .wrongPassword ? .notAuthenticated : .failure
        self.init(code, name: name, beginning + sentence, advice: advice)
    }

    static let exportPasswordMissing = "exportPasswordMissing"
    /// Of a source that is read as a whole.
    static let sourceTooLarge = dataTooLarge
}

extension ImportSkip {
    fileprivate var words: String {
        switch self {
        case .tooLarge: "more attributes or bytes than an item may have"
        case .notText: "a name or a value that is no text"
        case .notGiven: "the service does not give its secret"
        case .locked: "the service did not unlock it"
        }
    }
}
