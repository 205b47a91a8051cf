// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainManagement
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// A search of one keychain: its scope, and the items found where they are few enough to hold.
final class SearchPass {
    /// The query, and the first place that it is searched in.
    let matcher: ItemMatcher
    /// In place of the query's limit; nil is all.
    let limit: Int?
    let groups: GroupScope
    private(set) var found: [SealedItem]?
    /// What reading the items found needs.
    private(set) var needs = ItemNeeds.all
    private let caller: Caller
    private let service: KeychainService
    /// Items that the user lets the program use for now. The program's own items are found without
    /// them.
    private lazy var allowed = Set(service.authentication.trust.items(for: caller))

    init(
        _ query: ItemQuery, atMost limit: Int?, _ access: Authorization
    ) throws(RequestError) {
        groups = try access.groups(query)
        matcher = ItemMatcher(query: query, scope: .groups(groups.all))
        self.limit = limit
        caller = access.client.caller
        service = access.service
        found = try few(access)
        needs = Self.needs(of: found)
    }

    /// Makes the item that the user has just let the program use the only one found.
    func admit(_ item: SealedItem) {
        allowed.insert(item.reference)
        found = [item]
        needs = Self.needs(of: found)
    }

    private static func needs(of found: [SealedItem]?) -> ItemNeeds {
        guard let found else { return .all }
        return found.reduce(into: []) { $0.formUnion(ItemNeeds(of: $1, toDo: .decrypt)) }
    }

    /// Whether another program's item is open to this program.
    func trusts(_ item: SealedItem) -> Bool {
        guard matcher.query.accessGroup == nil, let list = item.trusted,
            !groups.all.hasSame(as: item.accessGroup)
        else { return false }
        return allowed.contains(item.reference) || list.names(caller.identity)
    }

    /// The scope that items are judged in: the caller's groups, each item's admission, and a `list`
    /// request for an item of another program where the search may return several.
    var scope: ItemScope {
        ItemScope(groups: groups.own, needs: needs) { [self] context in
            context.admission = { self.trusts($0) ? .trusted : .none }
            guard limit != 1 else { return }
            context.also = { context, item in
                context.isOwn(item) ? [] : [context.listing(item)]
            }
        }
    }

    // MARK: Looking

    /// The places to search, in order: groups, then items that trust the program, then items that
    /// the user lets it use. A query that names a group searches only that group.
    private func matcher(_ place: Int) -> ItemMatcher? {
        if place == 0 { return matcher }
        guard matcher.query.accessGroup == nil, caller.identifier != nil else { return nil }
        switch place {
        case 1:
            return ItemMatcher(
                query: matcher.query, scope: .trusting(caller.identity, besides: groups.all))
        case 2 where !allowed.isEmpty:
            var some = matcher.query
            some.references = (some.references ?? Array(allowed)).filter(allowed.contains)
            return ItemMatcher(query: some, scope: .askable(besides: groups.all))
        default: return nil
        }
    }

    /// The items found, where they may be held in memory; else nil. In embedded mode the program's
    /// process holds the whole answer anyway; the daemon holds no more than one part of an answer.
    private func few(_ access: Authorization) throws(RequestError) -> [SealedItem]? {
        let isDaemon = access.service.isDaemon
        let limit = limit ?? .max
        guard limit <= AnswerWriter.mostItems || !isDaemon,
            matcher.query.authenticationUI != .skip, groups.others.isEmpty
        else { return nil }
        let keys = try access.keys
        var found: [SealedItem] = []
        var bytesLeft = isDaemon ? AnswerWriter.mostBytes : Int.max
        var place = 0
        while found.count < limit, let matcher = matcher(place) {
            do {
                let few = try access.keychain.file.find(
                    matcher, keys: keys.classKeys,
                    // Safe: `found` has no more items than the limit.
                    atMost: limit - found.count, mostBytes: bytesLeft)
                guard let few else { return nil }
                bytesLeft -= few.reduce(0) { $0 + $1.attributeBytes }
                found = found.isEmpty ? few : found + few
            } catch { throw RequestError(error) }
            place += 1
        }
        return found
    }

    /// Hands out the items found until `body` has enough of them.
    func each(
        _ access: Authorization, _ body: (SealedItem) throws(RequestError) -> Bool
    ) throws(RequestError) {
        if let found {
            for item in found where try !body(item) { return }
            return
        }
        // Items that are left out must not count towards the limit.
        let mayBeUnknown = !groups.others.isEmpty
        var goesOn = true
        let (keys, context) = (try access.keys, try access.context)
        var unlock = keys.unlock
        var place = 0
        while goesOn, let matcher = matcher(place) {
            place += 1
            var query = matcher.query
            query.limit = query.authenticationUI == .skip || mayBeUnknown ? nil : limit
            try access.keychain.each(query, in: matcher.scope, keys.classKeys) {
                item throws(RequestError) in
                if mayBeUnknown, !context.isKnown(item) { return true }
                try unlock.checkNowAndThen(item.availability)
                goesOn = try body(item)
                return goesOn
            }
        }
    }

    func isEmpty(_ access: Authorization) throws(RequestError) -> Bool {
        if let found { return found.isEmpty }
        // Whether an item is known does not rest on a question.
        access.begin(
            scope, given: access.service.authentication.evidence(for: access.client),
            withoutQuestion: true)
        var isEmpty = true
        try each(access) { _ throws(RequestError) in
            isEmpty = false
            return false
        }
        return isEmpty
    }
}

extension OpenKeychain {
    /// Hands the items of a search to `body`, one by one, until it says false or refuses.
    func each(
        _ query: ItemQuery, in scope: SearchScope, _ keys: borrowing ClassKeys,
        _ body: (SealedItem) throws(RequestError) -> Bool
    ) throws(RequestError) {
        var refusal: RequestError?
        do {
            try file.forEach(query, in: scope, keys: keys) { item in
                do throws(RequestError) { return try body(item) } catch {
                    refusal = error
                    return false
                }
            }
        } catch { throw RequestError(error) }
        if let refusal { throw refusal }
    }
}

// MARK: Groups

/// The access groups that a call looks into.
struct GroupScope: Sendable {
    /// The caller's own groups: a member may know of every item in them.
    let own: [String]
    /// Groups of others, where the policy may let the caller know of some items.
    let others: [String]
    /// Those of the others that the caller joined: a member may know of every item in them.
    let joined: [String]
    let all: [String]
    /// True where a rule matches groups by pattern: the group of an item that does not open is
    /// unknown, so it may match.
    let mayBeAny: Bool

    init(own: [String], joined: [String] = [], others: [String], mayBeAny: Bool = false) {
        // Most callers have joined none.
        let others =
            joined.isEmpty
            ? others.distinct(besides: own) : joined + others.distinct(besides: own + joined)
        self.own = own
        self.joined = joined
        self.others = others
        self.mayBeAny = mayBeAny
        all = others.isEmpty ? own : own + others
    }
}

extension Authorization {
    /// All groups of which the client may see something, or only the named one if it is among them.
    func groups(
        _ query: ItemQuery, for operation: PolicyOperation? = nil
    ) throws(RequestError) -> GroupScope {
        let operation = operation ?? intent.policyOperation
        let policy = service.policy.now
        let named = query.accessGroup
        let reach = reach(policy.reach, for: operation)
        let own = client.caller.accessGroups
        let joined = try joinedGroups
        guard !own.isEmpty || !reach.isEmpty else { throw .refused(.notEntitled) }
        // The keychain's own list covers the groups that rules name, as far as it has items of
        // them.
        let others =
            reach.anyGroup && named == nil
            ? try groupsOfKeychain() : reach.groups.map(\.string)
        guard let named else {
            return GroupScope(
                own: own, joined: joined, others: others, mayBeAny: reach.anyGroup)
        }
        if let mine = own.firstSame(as: named) { return GroupScope(own: [mine], others: []) }
        if let mine = joined.firstSame(as: named) {
            return GroupScope(own: [], joined: [mine], others: [])
        }
        guard reach.anyGroup || others.firstSame(as: named) != nil else {
            client.notes.note(
                stranger: ItemFacts.of(query, group: named, keychain: keychain.name.description),
                operation, policy.judge)
            throw .refused(.notEntitled)
        }
        return GroupScope(own: [], others: [named])
    }

    private func groupsOfKeychain() throws(RequestError) -> [String] {
        let keys = try keys
        do {
            return try keychain.file.groups(keys.classKeys, isOnlyWriter: service.isDaemon)
        } catch { throw RequestError(error) }
    }

    /// A share of everything is meant for the keychains of the users who share. In the machine's
    /// keychain, for callers other than root, a share must name the group, and the caller must be a
    /// service that the kernel identifies.
    private func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation
    ) -> VisibleGroups {
        guard keychain.isSystem, client.caller.user != 0 else {
            return client.reach(policy, for: operation, byNameAlone: false)
        }
        guard case .unit = client.caller.identity else { return VisibleGroups() }
        return client.reach(policy, for: operation, byNameAlone: true)
    }
}

extension Authorization {
    /// The items that a change applies to, of those that the client may know of. There may be very
    /// many: each is handed to `body`, and only its reference is kept.
    func meant(
        by query: ItemQuery, in groups: GroupScope,
        each body: (SealedItem) throws(RequestError) -> Void = { _ in }
    ) throws(RequestError) -> MeantItems {
        var search = query
        search.limit = nil
        var meant = MeantItems(service.memory, for: client.caller.user)
        let (keys, context) = (try keys, try context)
        var unlock = keys.unlock
        try keychain.each(search, in: .groups(groups.all), keys.classKeys) {
            item throws(RequestError) in
            guard groups.others.isEmpty || context.isKnown(item) else { return true }
            try unlock.checkNowAndThen(item.availability)
            try body(item)
            try meant.append(item)
            return true
        }
        return meant
    }
}

/// The keychains that a call searches, in order.
struct SearchedKeychains {
    let ids: [KeychainID]
    /// A named keychain must exist; those of a search list may be missing.
    let isNamed: Bool

    /// Those of them that are opened in this process.
    func opened(in folder: KeychainFolder) -> SearchedKeychains {
        SearchedKeychains(ids: ids.filter(folder.opens), isNamed: isNamed)
    }
}

/// Which keychains a call means (docs/design/system-keychain.md).
extension KeychainService {
    /// The keychains that a call searches: the named one, or its user's search list. A change that
    /// names no keychain reaches the machine's only where that is the default. For a client that
    /// does not reach the process that has the machine's keychain open, that keychain is not there.
    func keychains(
        _ query: ItemQuery, toChange: Bool, for client: any Client
    ) throws(RequestError) -> SearchedKeychains {
        let caller = client.caller
        // Asked last, as few programs have to do with the machine's keychain.
        func reachesSystem() -> Bool {
            folder.hasSystemKeychain && (folder.opensSystemKeychain || client.machine != nil)
        }
        if let name = query.keychain {
            let id = try folder.id(KeychainFolder.verified(name), of: caller.user)
            try management.check(id, toChange: toChange, for: caller)
            guard id.name != .system || reachesSystem() else { throw .state(.notFound) }
            return SearchedKeychains(ids: [id], isNamed: true)
        }
        let preferences = folder.preferences(of: caller)
        var names = preferences.searchList
        // A reference means one item, in any of the user's keychains.
        if query.references != nil {
            names += folder.names(of: caller.user).filter { !names.contains($0) }
        }
        let mayBeSystem =
            toChange
            ? caller.user == 0 && caller.via == nil && preferences.defaultKeychain == .system
            : caller.isOfMachine
        let leavesSystemOut = !mayBeSystem || !reachesSystem()
        if caller.session == nil, let index = names.firstIndex(of: .system) {
            names.insert(names.remove(at: index), at: 0)
        }
        var keychains: [KeychainID] = []
        for name in names where !leavesSystemOut || name != .system {
            keychains.append(try folder.id(name, of: caller.user))
        }
        return SearchedKeychains(ids: keychains, isNamed: false)
    }

    /// The keychain for a new item: the named one, or the user's default.
    func keychainForNew(_ name: String?, for caller: Caller) throws(RequestError) -> KeychainID {
        let verified: KeychainName
        if let name {
            verified = try KeychainFolder.verified(name)
        } else {
            guard let byDefault = folder.preferences(of: caller).defaultKeychain else {
                throw .state(.noDefaultKeychain)
            }
            verified = byDefault
        }
        let id = try folder.id(verified, of: caller.user)
        try management.check(id, toChange: true, for: caller)
        return id
    }

    /// Does the work in one keychain after the other, until it returns true; `elsewhere` does it
    /// for the machine's keychain where that is not opened here. Throws `.notFound` where no
    /// keychain had anything.
    func each(
        of keychains: SearchedKeychains, elsewhere: () throws(RequestError) -> Bool,
        _ work: (OpenKeychain) throws(RequestError) -> Bool
    ) throws(RequestError) {
        var hasFound = false
        for id in keychains.ids {
            do throws(RequestError) {
                let isEnough =
                    try folder.opens(id)
                    ? work(folder.keychain(id, for: id.user)) : elsewhere()
                hasFound = true
                if isEnough { break }
            } catch {
                let isMissing = error == .state(.noSuchKeychain) && !keychains.isNamed
                guard isMissing || error == .state(.notFound) else { throw error }
            }
        }
        guard hasFound else { throw .state(.notFound) }
    }
}
