// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainStatusCodes

/// `item`: items by the names of their attributes.
struct ItemCommand {
    static let command = Command(
        "item",
        """
        [-q attr=value,...] [-a | -D | -u attr=value,...] [-d text | -f file] [-g] [-p] \
        [-P reference] [-s group] [-l limit] [-j] [-v] [attr=value...]
        """,
        """
        Find items by their attributes, or with -a add one, with -u change or with -D delete what \
        is found. class=genp, inet, cert or keys is needed.
        """, letters: "aDq:u:d:f:gjpP:s:l:vyY:", hiding: "dYqu"
    ) { options, session throws(CommandFailure) in
        try ItemCommand(options: options, session: session).run()
    }

    let options: Options
    let session: Session

    private func run() throws(CommandFailure) {
        let isChange = options.has("a") || options.has("D")
        let actions = ["a", "D", "u", "s"].filter { options.has(Character($0)) }
        let pairs = options.all("q").flatMap(Self.pairs) + options.words
        let changed = options.all("u").flatMap(Self.pairs)
        guard !pairs.isEmpty || options["P"] != nil, actions.count <= 1,
            !(isChange && options.has("g")),
            (pairs + changed).allSatisfy({ $0.contains("=") })
        else { throw .usage }
        let secret = try secret()
        switch actions.first {
        case "a": try add(pairs, secret)
        case "u": try update(pairs, changed, secret)
        case "D": try delete(pairs)
        case "s":
            throw .absent("item: -s: keychainctl update --new-group moves items to another group")
        default: try find(pairs)
        }
    }

    private static func pairs(_ text: String) -> [String] {
        text.split(separator: ",").map(String.init)
    }

    private func secret() throws(CommandFailure) -> HeldSecret? {
        if let text = options["d"] { return PasswordPrompt.given(text) }
        guard let file = options["f"] else { return nil }
        do {
            return HeldSecret(
                try SecretFile.read(file, limit: RequestLimits.largestSecret))
        } catch { throw .said("security: \(file): can't be read\n", exit: 1) }
    }

    private func query(_ attributes: ItemAttributes) throws(RequestError) -> ItemQuery {
        var query = try attributes.query(reference: options["P"])
        let limit = options["l"].map(PasswordMatch.leadingNumber) ?? 0
        query.limit = limit > 0 ? Int(limit) : nil
        if options.has("v") { session.output.write(attributes.description + "\n") }
        return query
    }

    private func find(_ pairs: [String]) throws(CommandFailure) {
        do throws(RequestError) {
            let attributes = try ItemAttributes(pairs)
            var query = try query(attributes)
            // A search leaves out what it would have to ask for; -u and -D ask.
            query.authenticationUI = attributes.authenticationUI ?? .skip
            query.returnFields = options.has("g") ? [.attributes, .data] : .attributes
            let items = try session.send(CopyMatching(query))
            let text = ItemText(showsReferences: options.has("p"))
            session.output.write(
                options.has("j") ? text.json(items) : items.map { text.lines($0) }.joined())
        } catch {
            session.output.complain(Self.failure(error, "SecItemCopyMatching").text)
            // Scripts expect that a search without a result succeeds.
            if error != .state(.notFound) { throw .said("", exit: 1) }
        }
    }

    private func add(_ pairs: [String], _ secret: HeldSecret?) throws(CommandFailure) {
        do throws(RequestError) {
            let attributes = try ItemAttributes(pairs)
            let item = try attributes.newItem()
            _ = try session.send(Add(item, secret: secret ?? attributes.secret, returning: []))
        } catch { throw Self.failure(error, "SecItemAdd") }
    }

    private func update(
        _ pairs: [String], _ changed: [String], _ secret: HeldSecret?
    ) throws(CommandFailure) {
        do throws(RequestError) {
            let query = try query(ItemAttributes(pairs))
            let new = try ItemAttributes(changed)
            let change = try new.change(of: query.itemClass)
            _ = try session.send(Update(query, change, secret: secret ?? new.secret))
        } catch { throw Self.failure(error, "SecItemUpdate") }
    }

    private func delete(_ pairs: [String]) throws(CommandFailure) {
        do throws(RequestError) {
            _ = try session.send(Delete(query(ItemAttributes(pairs))))
        } catch { throw Self.failure(error, "SecItemDelete") }
    }

    /// Two lines, and exit status 1 for every error.
    private static func failure(_ error: RequestError, _ call: String) -> CommandFailure {
        var text = CommandFailure(error, call).text
        switch error.statusCode {
        case -25300: text += "No item has these attributes.\n"
        case -25308: text += "The keychain is locked, or you can't be asked here.\n"
        default: break
        }
        return .said(text, exit: 1)
    }
}
