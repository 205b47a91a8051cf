// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `find-generic-password`, `find-internet-password`.
struct FindPassword {
    static func command(_ name: String, _ itemClass: ItemClass, _ description: String) -> Command {
        Command(
            name, PasswordMatch.usage(itemClass) + " [-g | -w] [keychain...]", description,
            letters: PasswordMatch.letters(itemClass) + "gw"
        ) { options, session throws(CommandFailure) in
            let match = try PasswordMatch(options, itemClass)
            try find(match, options, session)
        }
    }

    private static func find(
        _ match: PasswordMatch, _ options: Options, _ session: Session
    ) throws(CommandFailure) {
        var query = match.query
        if options.has("w") || options.has("g") { query.returnFields = .data }
        let found = try session.first(query, in: options.words)
        let secret = found.item.secret ?? HeldSecret(SecretBytes(copying: []))
        if options.has("w") {
            session.output.write(line: ValueText.plain(secret.bytes))
            return
        }
        session.dump(found)
        guard options.has("g") else { return }
        session.output.tell("password: ")
        session.output.write(line: ValueText.of(secret.bytes), to: .error)
    }
}
