// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `git-credential-keychain`: git's credential helper (gitcredentials(7)).
struct GitHelper: Helper {
    static let name = "git-credential-keychain"
    static let usage = """
        Usage: git-credential-keychain get | store | erase
        git starts it: git config --global credential.helper keychain

        """

    let session: HelperSession

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard let action = arguments.first else { throw .usage }
        switch action {
        case "get": try get(try GitCredential(try session.request()))
        case "store": try store(try GitCredential(try session.request()))
        case "erase": try erase(try GitCredential(try session.request()))
        // git may add actions that this helper does not know, and expects silence.
        default: break
        }
    }

    /// Writes nothing where there is no password: git then asks the next helper, or the user.
    private func get(_ wanted: GitCredential) throws(HelperFailure) {
        guard let place = try wanted.place() else { return }
        for attributes in place.searches(account: wanted.username) {
            guard let item = try session.items.first(.internetPassword, attributes) else {
                continue
            }
            try answer(item, keepsState: wanted.keepsState)
            return
        }
    }

    private func answer(_ item: Item, keepsState: Bool) throws(HelperFailure) {
        guard let account = item.text(.account),
            !account.utf8.contains(where: { $0 == 0x0A || $0 == 0 }),
            let stored = item.secret,
            let secret = GitSecret(stored: stored)
        else { throw .unsupported("the item has line ends in it, which git can't be told") }
        try session.answer(
            secret.lines(
                account: account, now: WallClock.now.components.seconds, keepsState: keepsState))
    }

    /// git returns each password that a server accepted, also one that came from here: nothing is
    /// written then, and no copy is made of another program's item.
    private func store(_ given: GitCredential) throws(HelperFailure) {
        guard let username = given.username, let password = given.password else { return }
        guard let place = try given.place() else {
            if let scheme = given.scheme, given.host != nil {
                session.complain("passwords of the protocol “\(scheme)” are not kept")
            }
            return
        }
        guard !given.isKnown else { return }
        let secret = GitSecret(given, password: password)
        let now = WallClock.now.components.seconds
        for attributes in place.searches(account: username) {
            let kept = try session.items.unasked(.internetPassword, attributes)
            if kept.contains(where: {
                $0.secret.map { secret.isKept(in: $0, now: now) } ?? false
            }) {
                return
            }
        }
        var attributes = place.attributes(account: username)
        attributes[.label] = .string(place.host)
        attributes[.itemDescription] = .string("Git password")
        try session.items.put(.internetPassword, attributes, secret: secret.stored)
    }

    /// git tells which password was refused. A different one, which was stored meanwhile, stays.
    private func erase(_ refused: GitCredential) throws(HelperFailure) {
        guard let place = try refused.place() else { return }
        for attributes in place.searches(account: refused.username) {
            for item in try session.items.unasked(.internetPassword, attributes) {
                if let password = refused.password, let stored = item.secret,
                    !(GitSecret(stored: stored)?.password.bytes.matches(password.bytes) ?? false)
                {
                    continue
                }
                do throws(HelperFailure) { try session.items.delete(item) } catch {
                    guard error == .notFound else { throw error }
                }
            }
        }
    }
}
