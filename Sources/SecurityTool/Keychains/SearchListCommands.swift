// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// `list-keychains`, `default-keychain`, `login-keychain`: the keychains that are used where none
/// is named.
enum SearchListCommands {
    private static let domains = ["user", "system", "common", "dynamic"]

    static let list = Command(
        "list-keychains", "[-d user|system|common|dynamic] [-s [keychain...]]",
        "Show or set the keychains that are searched.", letters: "d:s"
    ) { options, session throws(CommandFailure) in
        let domain = try chosenDomain(options)
        do throws(RequestError) {
            if options.has("s") {
                try checkUsers(domain)
                let names = options.words.map { KeychainWord($0).name }
                _ = try session.send(Preferences(.searchList(names)))
            } else {
                let names = try searched(domain, session)
                session.output.write(
                    names.map { "    \"\(session.path(of: $0))\"\n" }.joined())
            }
        } catch {
            let call = "SecKeychain\(options.has("s") ? "Set" : "Copy")DomainSearchList"
            throw .said(CommandFailure(error, call).text, exit: 1)
        }
    }

    static let byDefault = Command(
        "default-keychain", "[-d user|system|common|dynamic] [-s [keychain]]",
        "Show or set the keychain to which items are added.", letters: "d:s"
    ) { options, session throws(CommandFailure) in
        let domain = try chosenDomain(options)
        guard options.words.count <= (options.has("s") ? 1 : 0) else { throw .usage }
        do throws(RequestError) {
            if options.has("s") {
                try checkUsers(domain)
                let name = options.words.first.map { KeychainWord($0).name }
                _ = try session.send(Preferences(.defaultKeychain(name)))
            } else if domain == "system" {
                show(KeychainName.system.description, session)
            } else {
                show(try session.preferences().defaultKeychain?.description, session)
            }
        } catch {
            let call = "SecKeychain\(options.has("s") ? "Set" : "Copy")DomainDefault"
            throw .said(CommandFailure(error, call).text, exit: 1)
        }
    }

    static let login = Command(
        "login-keychain", "[-d user|system|common|dynamic] [-s [keychain]]",
        "Show the login keychain.", letters: "d:s"
    ) { options, session throws(CommandFailure) in
        _ = try chosenDomain(options)
        guard !options.has("s") else {
            throw .said("security: the login keychain is always called login\n", exit: 1)
        }
        show(KeychainName.login.description, session)
    }

    /// The beginning of the domain's name is enough.
    private static func chosenDomain(_ options: Options) throws(CommandFailure) -> String {
        guard let given = options["d"] else { return "user" }
        guard !given.isEmpty, let domain = domains.first(where: { $0.hasPrefix(given) }) else {
            throw .badArguments("Invalid domain: \(given)")
        }
        return domain
    }

    /// The service alone manages the machine's lists.
    private static func checkUsers(_ domain: String) throws(RequestError) {
        guard domain == "user" || domain == "dynamic" else { throw .state(.readOnly) }
    }

    private static func searched(_ domain: String, _ session: Session) throws(RequestError)
        -> [String]
    {
        switch domain {
        case "system", "common":
            let system = KeychainName.system.description
            return try session.keychains().map(\.name).filter { $0 == system }
        default: return try session.preferences().searchList.map(\.description)
        }
    }

    private static func show(_ name: String?, _ session: Session) {
        session.output.write(
            name.map { "    \"\(session.path(of: $0))\"\n" } ?? " <NULL>\n")
    }
}
