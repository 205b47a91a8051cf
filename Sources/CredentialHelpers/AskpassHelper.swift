// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// `keychain-askpass`: for `SSH_ASKPASS`, `GIT_ASKPASS` and `SUDO_ASKPASS`. Answers from the
/// keychain, or asks the user and offers to store the answer.
struct AskpassHelper: Helper {
    static let name = "keychain-askpass"
    static let usage = """
        Usage: keychain-askpass PROMPT
               keychain-askpass --store PROMPT
               keychain-askpass --forget PROMPT
        ssh, git and sudo start it, with their prompt:
            export SSH_ASKPASS=keychain-askpass SSH_ASKPASS_REQUIRE=prefer
            export GIT_ASKPASS=keychain-askpass SUDO_ASKPASS=$(command -v keychain-askpass)

        """

    /// The most bytes of a prompt that are shown.
    private static let longestPrompt = 4096

    let session: HelperSession

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard let last = arguments.last, last.utf8.count <= Self.longestPrompt else {
            throw .usage
        }
        switch (arguments.count, arguments[0]) {
        case (2, "--store"): try store(last)
        case (2, "--forget"): try forget(last)
        case (1, _): try reply(to: last)
        default: throw .usage
        }
    }

    private func reply(to text: String) throws(HelperFailure) {
        // ssh tells here which kind of answer it wants.
        switch ProcessEnvironment["SSH_ASKPASS_PROMPT"] {
        case "none":
            if let terminal = try? Terminal() { terminal.say(text) }
            return
        case "confirm":
            guard try AskpassDialog().confirms(text) else {
                throw .unanswered("the answer was no")
            }
            return
        default: break
        }
        let prompt = AskpassPrompt(text)
        if let known = known(prompt, text) { return try answer(known) }
        let dialog = try AskpassDialog()
        let typed = try dialog.answer(to: shown(text), isShown: prompt.kind != .secret)
        if prompt.kind == .secret, let item = prompt.item, item.isOffered,
            typed.bytes.count > 0, try dialog.confirms("Keep it in the keychain?")
        {
            // The tool needs the answer, whether or not it can be stored.
            do throws(HelperFailure) { try keep(typed, item) } catch {
                session.complain("it is not kept: \(error.sentence)")
            }
        }
        try answer(typed)
    }

    /// The text with a blank after it, as prompts have one.
    private func shown(_ text: String) -> String {
        text.last?.isWhitespace == true ? text : text + " "
    }

    private func answer(_ secret: HeldSecret) throws(HelperFailure) {
        var text = SecretText()
        text.append(secret)
        text.append("\n")
        try session.answer(text)
    }

    /// The answer in the keychain. Where it can't be read, the user is asked.
    private func known(_ prompt: AskpassPrompt, _ text: String) -> HeldSecret? {
        guard let item = prompt.item, !prompt.isRepeated else { return nil }
        let recent = RecentAnswer(to: text)
        if let recent, recent.wasGiven { return nil }
        do throws(HelperFailure) {
            guard let secret = try found(item, prompt.kind) else { return nil }
            recent?.note()
            return secret
        } catch {
            session.complain(error.sentence)
            return nil
        }
    }

    /// The secret, if it is one line without a line end; or the name of the only user, where a name
    /// is asked for.
    private func found(
        _ wanted: AskpassPrompt.Item, _ kind: AskpassPrompt.Kind
    ) throws(HelperFailure) -> HeldSecret? {
        for attributes in wanted.searches {
            if kind == .plain {
                let found = try session.items.listed(wanted.itemClass, attributes)
                guard let account = found.first?.text(.account) else { continue }
                return found.count == 1 ? HeldSecret(text: account) : nil
            }
            let found = try session.items.first(wanted.itemClass, attributes)
            if let secret = found?.secret, !secret.contains(0x0A), !secret.contains(0) {
                return secret
            }
        }
        return nil
    }

    private func keep(_ secret: HeldSecret, _ item: AskpassPrompt.Item) throws(HelperFailure) {
        try session.items.put(item.itemClass, item.attributes, secret: secret)
    }

    private func store(_ text: String) throws(HelperFailure) {
        guard let item = AskpassPrompt(text).item, AskpassPrompt(text).kind == .secret else {
            throw .unsupported("that is no prompt of ssh, git or sudo for a password to keep")
        }
        let typed = try AskpassDialog().answer(to: shown(text), isShown: false)
        guard typed.bytes.count > 0 else { throw .unanswered("nothing was typed") }
        try keep(typed, item)
    }

    private func forget(_ text: String) throws(HelperFailure) {
        guard let item = AskpassPrompt(text).item else { throw .notFound }
        var isGone = false
        for attributes in item.searches {
            do throws(HelperFailure) {
                try session.items.delete(item.itemClass, attributes)
                isGone = true
            } catch { guard error == .notFound else { throw error } }
        }
        guard isGone else { throw .notFound }
    }
}
