// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainStatusCodes
internal import Terminal

/// Commands on whole keychains.
enum KeychainFileCommands {
    static let create = Command(
        "create-keychain", "[-P] [-p password] [keychain...]",
        "Create keychains; what stands on the command line other users of the machine may see.",
        letters: "Pp:", hiding: "p"
    ) { options, session throws(CommandFailure) in
        if options.has("P") {
            session.output.complain("security: -P: there is no window for that; asking here\n")
        }
        var words = options.words
        if words.isEmpty {
            session.output.tell("keychain to create: ")
            guard let name = (try? InputLines.next()) ?? nil, !name.isEmpty else { throw .noAnswer }
            words = [name]
        }
        for word in words {
            let password = try passwordOfNew(options["p"])
            do throws(RequestError) {
                _ = try session.send(
                    CreateKeychain(name: KeychainWord(word).name, password: password))
            } catch { throw CommandFailure(error, "SecKeychainCreate", word) }
        }
    }

    private static func passwordOfNew(_ given: String?) throws(CommandFailure) -> HeldSecret {
        if let given { return PasswordPrompt.given(given) }
        return try PasswordPrompt.new(
            "password for new keychain: ", "retype password for new keychain: ")
    }

    static let delete = Command(
        "delete-keychain", "keychain...",
        "Delete keychains, after a question, and take them out of the search list."
    ) { options, session throws(CommandFailure) in
        guard !options.words.isEmpty else { throw .usage }
        var areGone = true
        for word in options.words.map(KeychainWord.init) {
            do throws(RequestError) {
                let path = try session.state(of: word.name).path
                let isGone = try deletes(word.name, session)
                let list = try session.preferences().searchList.map(\.description)
                if list.contains(word.name) {
                    _ = try session.send(
                        Preferences(.searchList(list.filter { $0 != word.name })))
                }
                guard !isGone else { continue }
                areGone = false
                session.output.complain(
                    """
                    security: \(word.typed) is searched no longer; its file stays, since other \
                    programs may keep items in it: \(path)

                    """)
            } catch { throw CommandFailure(error, "SecKeychainDelete", word.typed) }
        }
        guard areGone else {
            throw .status(CommandFailure.unimplemented, call: "SecKeychainDelete", detail: nil)
        }
    }

    /// The service asks the user, since other programs' items go along. Returns false where it has
    /// no way to ask, or keeps the keychain: the login and the default one, and in embedded mode
    /// all.
    private static func deletes(
        _ name: String, _ session: Session
    ) throws(RequestError) -> Bool {
        do throws(RequestError) {
            _ = try session.send(DeleteKeychain(keychain: name))
            return true
        } catch
            where error == .invalid(.notImplemented) || error == .refused(.interactionNotAllowed)
        {
            return false
        }
    }

    static let lock = Command(
        "lock-keychain", "[-a | keychain]", "Lock a keychain, or all of them.", letters: "a"
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        do throws(RequestError) {
            guard options.has("a") else {
                let name = try session.name(options.words.first.map { KeychainWord($0).name })
                try lock(name, session)
                return
            }
            for state in try session.keychains()
            where state.problem == nil && state.isPasswordProtected {
                try lock(state.name, session)
            }
        } catch {
            let call = options.has("a") ? "SecKeychainLockAll" : "SecKeychainLock"
            throw CommandFailure(
                error, call, options.has("a") ? nil : options.words.first ?? "<NULL>")
        }
    }

    private static func lock(_ name: String, _ session: Session) throws(RequestError) {
        _ = try session.send(Lock(keychain: name))
    }

    static let unlock = Command(
        "unlock-keychain", "[-u] [-p password] [keychain]", "Unlock a keychain.", letters: "up:",
        hiding: "p"
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        let word = options.words.first.map(KeychainWord.init)
        func failure(_ error: RequestError) -> CommandFailure {
            CommandFailure(error, CallName.unlock, word?.typed ?? "<NULL>")
        }
        let state: KeychainStatus
        do throws(RequestError) { state = try session.state(of: word?.name) } catch {
            throw failure(error)
        }
        if options.has("u") {
            guard state.lockState == .unlocked else {
                throw failure(.refused(.interactionNotAllowed))
            }
            return
        }
        let password = try PasswordPrompt.ask(
            "password to unlock \(word?.typed ?? "default"): ", unlessGiven: options["p"])
        do throws(RequestError) {
            _ = try session.send(Unlock(keychain: state.name, password: password))
        } catch { throw failure(error) }
    }

    static let setPassword = Command(
        "set-keychain-password", "[-o oldPassword] [-p newPassword] [keychain]",
        "Set the password of a keychain.", letters: "o:p:", hiding: "op"
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        let word = options.words.first.map(KeychainWord.init)
        let shown = word?.typed ?? "<NULL>"
        func failure(_ error: RequestError) -> CommandFailure {
            let text = CommandFailure.message(error.statusCode)
            return .said(
                "security: error changing password for \"\(shown)\": \(text)\n",
                exit: error.statusCode & 0xFF)
        }
        let state: KeychainStatus
        do throws(RequestError) { state = try session.state(of: word?.name) } catch {
            throw failure(error)
        }
        // A keychain without a password has no old one to ask for.
        let old =
            try state.isPasswordProtected
            ? PasswordPrompt.ask("Old Password: ", unlessGiven: options["o"])
            : nil
        let new = try newPassword(options["p"])
        do throws(RequestError) {
            _ = try session.send(SetPassword(keychain: state.name, old: old, new: new))
        } catch { throw failure(error) }
    }

    private static func newPassword(_ given: String?) throws(CommandFailure) -> HeldSecret {
        if let given { return PasswordPrompt.given(given) }
        let new = try PasswordPrompt.ask("New Password: ")
        guard try PasswordPrompt.ask("Retype New Password: ").bytes.matches(new.bytes) else {
            throw .said("security: try again\n", exit: 1)
        }
        return new
    }
}
