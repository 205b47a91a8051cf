// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `dump-keychain`: every item of some keychains.
struct DumpKeychain {
    static let command = Command(
        "dump-keychain", "[-adir] [-o file] [keychain...]",
        "Show the items of keychains: -d with their secrets, -a with who is let in.",
        letters: "adiro:"
    ) { options, session throws(CommandFailure) in
        if options.has("i") {
            session.output.complain(
                "security: -i: keychainctl access changes who is let in; shown as with -a\n")
        }
        if options.has("r") {
            session.output.complain("security: -r: the service hands no encrypted bytes out\n")
        }
        let target = try options["o"].map { path throws(CommandFailure) in try newFile(path) }
        let dump = DumpKeychain(options: options, session: session, target: target ?? .standard)
        guard !options.words.isEmpty else { return try dump.run(nil) }
        for keychain in options.words { try dump.run(keychain) }
    }

    private static func newFile(_ path: String) throws(CommandFailure) -> SecretOutput {
        do { return try SecretOutput(path) } catch {
            throw .said("security: \(path): can't be written\n", exit: 1)
        }
    }

    let options: Options
    let session: Session
    let target: SecretOutput

    private func run(_ keychain: String?) throws(CommandFailure) {
        let items: [FoundItem]
        do throws(RequestError) { items = try session.allItems(of: keychain) } catch {
            throw CommandFailure(error, CallName.search)
        }
        for found in items {
            try CommandFailure.writing { () throws(SystemError) in try show(found) }
        }
    }

    private func show(_ found: FoundItem) throws(SystemError) {
        let path = session.path(of: found.keychain)
        let text = AttributeDump.text(found.item, keychain: path)
        guard options.has("d") else {
            try target.write(text)
            try showAccess(found.item)
            return
        }
        var query = found.query
        query.returnFields = [.data, .attributes]
        let answer: Result<HeldSecret?, RequestError>
        do throws(RequestError) {
            answer = .success(try session.send(CopyMatching(query)).first?.secret)
        } catch { answer = .failure(error) }
        switch answer {
        case .success(let secret):
            try target.write(text + "data:\n")
            try target.write(line: ValueText.of((secret ?? Self.none).bytes))
        case .failure(let refusal):
            let header = AttributeDump.header(found.item, keychain: path)
            try target.write(header.map { $0 + "\n" }.joined())
            session.output.complain(
                CommandFailure(refusal, "SecKeychainItemCopyAttributesAndData").text)
        }
        try showAccess(found.item)
    }

    private static let none = HeldSecret(SecretBytes(copying: []))

    private func showAccess(_ item: Item) throws(SystemError) {
        guard options.has("a") || options.has("i") else { return }
        try target.write(AccessText.of(item))
    }
}

/// The programs that may use an item, in the layout of an access list.
enum AccessText {
    static func of(_ item: Item) -> String {
        guard let trusted = item.trusted else { return "no access control for this item\n" }
        let label = item.attributes[.label].map {
            String(decoding: $0.comparedBytes, as: UTF8.self)
        }
        let asks = item.accessControl.constraint(for: .decrypt) != .always
        var lines = [
            "access: 1 entries", "    entry 0:",
            "        authorizations (6): decrypt derive export_clear export_wrapped mac sign",
            "        \(asks ? "require-password" : "don't-require-password")",
            "        description: \(PlainText.line(label ?? ""))",
            "        applications (\(trusted.applications.count)):",
        ]
        for (number, application) in trusted.applications.enumerated() {
            lines.append("            \(number): \(path(application)) (OK)")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The path of the program's file; else the identifier of a program that has another one.
    private static func path(_ application: TrustedApplication) -> String {
        let prefix = "exe:"
        guard application.identity.hasPrefix(prefix) else { return application.identity }
        return String(application.identity.dropFirst(prefix.count))
    }
}
