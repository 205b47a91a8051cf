// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// `delete-generic-password`, `delete-internet-password`.
struct DeletePassword {
    static func command(_ name: String, _ itemClass: ItemClass, _ description: String) -> Command {
        Command(
            name, PasswordMatch.usage(itemClass) + " [keychain...]", description,
            letters: PasswordMatch.letters(itemClass) + "g"
        ) { options, session throws(CommandFailure) in
            let match = try PasswordMatch(options, itemClass)
            guard !match.isEmpty, !options.has("g") else { throw .usage }
            let found = try session.first(match.query, in: options.words)
            session.dump(found)
            do throws(RequestError) { _ = try session.send(Delete(found.query)) } catch {
                throw CommandFailure(error, CallName.delete)
            }
            session.output.tell("password has been deleted.\n")
        }
    }
}
