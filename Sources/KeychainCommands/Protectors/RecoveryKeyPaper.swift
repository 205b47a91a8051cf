// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Terminal

/// A recovery key on its way to paper, and back from it.
enum RecoveryKeyPaper {
    private static let mostTries = 3

    /// Shows a fresh key on the terminal, once, and goes on when a part of it was typed from the
    /// paper: a key that was not kept opens nothing.
    static func new(for keychain: String) throws(CommandFailure) -> HeldSecret {
        let key = RecoveryKey.random()
        do throws(TerminalError) {
            let terminal = try Terminal()
            terminal.say(
                """
                The recovery key of the keychain “\(keychain)”. It opens the keychain when \
                nothing else does. It is shown this once: write it down or print it, and keep it \
                where you keep papers.
                """)
            terminal.say("")
            terminal.show(secret: key.text())
            terminal.say("")
        } catch { throw CommandFailure(error) }
        try confirm(key)
        return HeldSecret(key.text())
    }

    private static func confirm(_ key: borrowing RecoveryKey) throws(CommandFailure) {
        let number = Int.random(in: 1...RecoveryKey.groupCount)
        for _ in 1...mostTries {
            let typed = try SecretReading.typed("Group \(number) of the recovery key: ")
            if key.group(number, isTypedAs: typed.bytes) { return }
            try say("That is not group \(number).")
        }
        throw CommandFailure(
            .failure, name: "recoveryKeyNotConfirmed",
            "the recovery key was not confirmed; nothing was changed")
    }

    /// What is typed from paper, without a slip: none of them costs anything but another try.
    static func typed(
        for keychain: String, fromInput: HeldSecret?
    ) throws(CommandFailure) -> HeldSecret {
        if let fromInput {
            try check(fromInput)
            return fromInput
        }
        for _ in 1..<mostTries {
            let typed = try SecretReading.typed(question(keychain))
            do throws(CommandFailure) {
                try check(typed)
                return typed
            } catch { try say(error.message) }
        }
        let last = try SecretReading.typed(question(keychain))
        try check(last)
        return last
    }

    private static func question(_ keychain: String) -> String {
        "Recovery key of the keychain “\(keychain)”: "
    }

    private static func check(_ typed: HeldSecret) throws(CommandFailure) {
        do throws(RecoveryKeyError) { _ = try RecoveryKey(typed: typed.bytes) } catch {
            throw CommandFailure(error)
        }
    }

    private static func say(_ text: String) throws(CommandFailure) {
        do throws(TerminalError) { try Terminal().say(text) } catch { throw CommandFailure(error) }
    }
}

extension CommandFailure {
    fileprivate init(_ error: RecoveryKeyError) {
        let what =
            switch error {
            case .wrongLength:
                "a recovery key has \(RecoveryKey.groupCount) groups of "
                    + "\(RecoveryKey.groupLength) characters"
            case .strangeCharacter(let group):
                "group \(group) has a character that no recovery key has; there is no 0, 1, I or O"
            case .mistyped(let group): "group \(group) of the recovery key is mistyped"
            }
        self.init(.failure, name: "recoveryKeyMistyped", what)
    }
}
