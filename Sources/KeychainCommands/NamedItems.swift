// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// The items that a name means: what it is the service or the server of, generic passwords first,
/// and where there is none what it is the label of.
struct NamedItems: Equatable {
    let name: ItemName
    /// nil: of all classes.
    let kind: ItemKind?
    /// What else was said of the items; its class counts for nothing.
    let wanted: WantedItems

    /// What is asked in turn, until something is found.
    ///
    /// Two are asked for where there could be more than one, so that none is taken for another. Only
    /// a query for one item can lead to the question whether another program's may be read.
    func queries() -> [ItemQuery] {
        var queries: [ItemQuery] = []
        if let (place, account) = name.parts { queries = searches(place, account) }
        return queries + searches(name.text, nil)
    }

    private func searches(_ place: String, _ account: String?) -> [ItemQuery] {
        var found = services(place, account) + servers(place, account)
        for kind in ItemKind.allCases {
            guard account == nil || kind == .genericPassword || kind == .internetPassword else {
                continue
            }
            found += search(kind, atMost: 2) {
                guard $0.label == nil else { return false }
                $0.label = place
                return $0.take(account)
            }
        }
        return found
    }

    private func services(_ place: String, _ account: String?) -> [ItemQuery] {
        search(.genericPassword, atMost: account == nil ? 2 : 1) {
            guard $0.service == nil else { return false }
            $0.service = place
            return $0.take(account)
        }
    }

    private func servers(_ place: String, _ account: String?) -> [ItemQuery] {
        var found: [ItemQuery] = []
        for limit in account == nil ? [2] : [2, 1] {
            found += search(.internetPassword, atMost: limit) {
                guard $0.server == nil else { return false }
                $0.server = place
                return $0.take(account)
            }
        }
        guard let (host, port) = ItemName.hostAndPort(place) else { return found }
        return found
            + search(.internetPassword, atMost: 2) {
                guard $0.server == nil, $0.port == nil else { return false }
                ($0.server, $0.port) = (host, port)
                return $0.take(account)
            }
    }

    /// None where the class is not meant, or what was said else does not belong to it.
    private func search(
        _ kind: ItemKind, atMost limit: Int, _ fill: (inout AttributeValues) -> Bool
    ) -> [ItemQuery] {
        guard self.kind == nil || self.kind == kind else { return [] }
        var wanted = wanted
        wanted.kind = kind
        guard fill(&wanted.values), var query = try? wanted.query() else { return [] }
        query.limit = limit
        return [query]
    }

    /// The one item that the name means.
    func one(
        _ fields: ReturnFields, from keychain: Keychain, to task: String
    ) throws(CommandFailure) -> Item {
        guard let item = try find(fields, from: keychain, to: task) else {
            let within = keychain.name.map { " in the keychain “\($0)”" } ?? ""
            throw keychain.failure(
                CommandFailure(
                    .notFound, name: CommandFailure.noSuchItem,
                    "could not \(task): there is no item “\(name.text)”\(within)",
                    advice: "keychainctl search looks for a word in all names."))
        }
        return item
    }

    /// The same; nil where there is none.
    func find(
        _ fields: ReturnFields, from keychain: Keychain, to task: String
    ) throws(CommandFailure) -> Item? {
        for query in queries() {
            var query = query
            query.returnFields = fields
            let found = try keychain.items(query, to: task)
            if found.count > 1 { try checkAreOne(query, keychain, task) }
            if let item = found.first { return item }
        }
        return nil
    }

    /// All that the name means, without their secrets.
    func all(from keychain: Keychain, to task: String) throws(CommandFailure) -> [Item] {
        for query in queries() {
            var query = query
            query.limit = nil
            query.returnFields = .attributes
            if query.authenticationUI == .fail { query.authenticationUI = .skip }
            let found = try keychain.items(query, to: task)
            guard found.isEmpty else { return found }
        }
        return []
    }

    /// Refuses where the names of those found differ. Where they are the same, as in two keychains,
    /// the first is meant. A change must not take one of a keychain's items for another of that
    /// name, as with two paths of a server.
    private func checkAreOne(
        _ query: ItemQuery, _ keychain: Keychain, _ task: String
    ) throws(CommandFailure) {
        let isForChange = query.returnFields == .persistentReference
        var query = query
        query.returnFields = .attributes
        query.limit = Self.mostShown + 1
        var names: [String] = []
        let items = try keychain.items(query, to: task)
        for item in items {
            let name = ItemName(item).text
            if !names.contains(name) { names.append(name) }
        }
        let keychains = Set(items.map { $0.keychain ?? "" })
        let isOne = names.count <= 1 && !(isForChange && items.count > keychains.count)
        guard !isOne else { return }
        let shown =
            names.count > 1
            ? names.prefix(Self.mostShown).joined(separator: ", ") : "several of that name"
        let more = names.count > Self.mostShown ? " and more" : ""
        throw keychain.failure(
            CommandFailure(
                .usage, name: "ambiguous",
                "could not \(task): “\(name.text)” may be \(shown)\(more)",
                advice: "Say which, as NAME/ACCOUNT or by --account and the like."))
    }

    private static let mostShown = 8
}

extension AttributeValues {
    /// False where another account was said.
    fileprivate mutating func take(_ account: String?) -> Bool {
        guard let account else { return true }
        guard self.account == nil else { return false }
        self.account = account
        return true
    }
}

extension CommandFailure {
    /// The name of “there is no such item” for programs.
    static let noSuchItem = "\(RequestError.state(.notFound))"

    /// No item was found; a keychain that is not there is something else.
    var isNoSuchItem: Bool { code == .notFound && name == Self.noSuchItem }
}

extension Keychain {
    /// What the query finds; that there is nothing is no error.
    func items(_ query: ItemQuery, to task: String) throws(CommandFailure) -> [Item] {
        do throws(CommandFailure) {
            return try ask(CopyMatching(query), to: task)
        } catch {
            guard error.isNoSuchItem else { throw error }
            return []
        }
    }
}
