// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// `set-generic-password-partition-list` and the like. Here the kernel identifies programs, not
/// their signature: the list is accepted, and not stored.
enum PartitionList {
    static func command(_ name: String, _ itemClass: ItemClass, _ description: String) -> Command {
        Command(
            name,
            PasswordMatch.usage(itemClass) + " -S partition-id[,...] [-k password] [keychain]",
            description,
            letters: PasswordMatch.letters(itemClass) + "S:"
                + (itemClass == .genericPassword ? "k?" : "k:"), hiding: "k"
        ) { options, session throws(CommandFailure) in
            try set(try PasswordMatch(options, itemClass).query, options, session)
        }
    }

    static func set(
        _ query: ItemQuery, _ options: Options, _ session: Session
    ) throws(CommandFailure) {
        guard options["S"] != nil, options.words.count <= 1 else { throw .usage }
        let word = options.words.first.map(KeychainWord.init)
        try unlock(word, options, session)
        var query = query
        query.limit = nil
        query.returnFields = .attributes
        let found: [FoundItem]
        do throws(RequestError) {
            found = try session.items(query, in: options.words)
            guard !found.isEmpty else { throw .state(.notFound) }
        } catch {
            throw .said(CommandFailure(error, CallName.matching).text, exit: 1)
        }
        for item in found { session.dump(item) }
        session.output.complain(
            "security: the list is not kept: here programs are let in by name, see -T\n")
    }

    private static func unlock(
        _ word: KeychainWord?, _ options: Options, _ session: Session
    ) throws(CommandFailure) {
        let shown = word?.typed ?? "default"
        let state: KeychainStatus
        do throws(RequestError) { state = try session.state(of: word?.name) } catch {
            throw .said("security: couldn't open \"\(shown)\"\n", exit: 1)
        }
        let password = try PasswordPrompt.ask(
            "password to unlock \(shown): ", unlessGiven: options["k"])
        // A keychain without a password opens by itself.
        guard state.isPasswordProtected else { return }
        do throws(RequestError) {
            _ = try session.send(Unlock(keychain: state.name, password: password))
        } catch {
            let detail = word?.typed ?? "<NULL>"
            throw .said(CommandFailure(error, CallName.unlock, detail).text, exit: 1)
        }
    }
}
