// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Matches of one part of an answer.
    private static let mostMatches = 4096

    /// In all of the keychains as if they were one. Nothing is asked, and no secret is opened.
    func findAttributed(
        _ verb: FindAttributed, for client: any Client,
        emit: ([AttributedMatch]) throws(RequestError) -> Void
    ) throws(RequestError) -> [AttributedMatch] {
        try AttributedLimits.check(verb.pairs)
        guard verb.pairs.keys.allSatisfy({ $0.pairName != nil }) else {
            throw .invalid(.badRequest)
        }
        let prompts = prompts(client)
        let limit = max(0, min(verb.limit, AttributedLimits.mostItems))
        var search = AttributedSearch(
            CountedMatches(memory, for: client.caller.user), atMost: limit)
        var searched: [(name: KeychainName, access: Authorization)] = []
        let keychains = try keychainsSearched(verb.keychain, for: client.caller)
        for name in keychains {
            search.failing { () throws(RequestError) in
                let keychain = try folder.keychain(name.description, of: client.caller.user)
                let access = Authorization(.search, in: keychain, prompts, by: self)
                let found = try access.matches(verb.pairs)
                searched.append((name, access))
                return found
            }
        }
        if limit > 0 {
            let tellsNone = search.tellsNone
            let others =
                tellsNone
                ? keychains
                : searched.filter { $0.access.mayBeLetIn(to: verb.pairs) }.map(\.name)
            try search.add(
                othersItems(
                    with: verb.pairs, in: others, withStrangers: tellsNone, prompts))
        }
        let found = try search.ranked()
        var rest = found[...]
        while rest.count > Self.mostMatches {
            try prompts.checkClient()
            try emit(rest.prefix(Self.mostMatches).map(\.match))
            rest = rest.dropFirst(Self.mostMatches)
        }
        try prompts.checkClient()
        return rest.map(\.match)
    }

    /// The machine's does not exist for such searches.
    private func keychainsSearched(
        _ named: String?, for caller: Caller
    ) throws(RequestError) -> [KeychainName] {
        guard let named else { return folder.names(of: caller.user).filter { $0 != .system } }
        let name = try KeychainFolder.verified(named)
        guard name != .system else { throw .state(.noSuchKeychain) }
        return [name]
    }
}

/// One item that a search found.
struct RankedMatch {
    let keychain: String
    /// nil: the keychain has items, and which of them are meant can't be told.
    let order: AttributedOrder?
    let isLocked: Bool

    var match: AttributedMatch {
        AttributedMatch(keychain: keychain, reference: order?.reference, isLocked: isLocked)
    }
}

/// Matches of one keychain or several. There may be very many: their memory is counted.
struct CountedMatches {
    /// Matches that one share of the memory budget counts.
    private static let atOnce = 1024
    /// Bytes of one match, with what a growing list has to spare.
    private static let bytesOfOne = 96

    private(set) var all: [RankedMatch] = []
    private var shares: [MemoryBudget.Share] = []
    private let memory: MemoryBudget
    private let user: UInt32

    init(_ memory: MemoryBudget, for user: UInt32) {
        self.memory = memory
        self.user = user
    }

    mutating func append(_ match: RankedMatch) throws(RequestError) {
        if !all.isEmpty, all.count.isMultiple(of: Self.atOnce),
            let share = try memory.take(Self.atOnce * Self.bytesOfOne, for: user)
        {
            shares.append(share)
        }
        all.append(match)
    }

    /// Adds the matches of another keychain. The best of both are kept, and the memory of the
    /// others is given back.
    mutating func add(_ others: CountedMatches, keeping most: Int) {
        all += others.all
        shares += others.shares
        guard all.count > most else { return }
        all = Array(ranked.prefix(most))
        shares = Array(shares.prefix(most / Self.atOnce))
    }

    /// The best first.
    var ranked: [RankedMatch] {
        all.sorted { a, b in
            guard let first = a.order, let second = b.order else { return a.order != nil }
            return first < second
        }
    }
}

/// What a search found so far, in all of the keychains.
private struct AttributedSearch {
    private var found: CountedMatches
    private var failure: RequestError?
    private let limit: Int

    init(_ none: CountedMatches, atMost limit: Int) {
        found = none
        self.limit = limit
    }

    /// No item at all: at most that a keychain has some.
    var tellsNone: Bool { found.all.allSatisfy { $0.order == nil } }

    /// A keychain that can't be searched hides none of the others, and does not look like an empty one.
    mutating func failing(_ body: () throws(RequestError) -> CountedMatches) {
        do throws(RequestError) {
            // One is kept where none is wanted: it tells that a keychain was searched.
            found.add(try body(), keeping: max(1, limit))
        } catch { failure = failure ?? error }
    }

    /// A rule may have told of some of them already.
    mutating func add(_ others: [RankedMatch]) throws(RequestError) {
        guard !others.isEmpty else { return }
        let known = Set(found.all.compactMap { $0.order?.reference })
        for match in others where match.order.map({ !known.contains($0.reference) }) ?? true {
            try found.append(match)
        }
    }

    func ranked() throws(RequestError) -> [RankedMatch] {
        if found.all.isEmpty, let failure { throw failure }
        return Array(found.ranked.prefix(limit))
    }
}

extension Authorization {
    /// Whether another program's item with the pairs may let the client in. Mostly there is none,
    /// and one look into the index says so.
    fileprivate func mayBeLetIn(to pairs: Attributes) -> Bool {
        let caller = client.caller
        guard caller.via != nil, caller.strength != nil else { return false }
        guard service.authentication.trust.items(for: caller).isEmpty else { return true }
        var query = ItemQuery(.attributed)
        query.attributes = pairs
        guard let known = try? groups(query), let held = try? keys else { return false }
        let scope = SearchScope.trusting(caller.identity, besides: known.all)
        var isMet = false
        try? keychain.file.forEachAttributed(
            query, in: scope, sealed: scope, keys: held.classKeys
        ) { _ in
            isMet = true
            return false
        }
        return isMet
    }

    /// The items of one keychain that have all of the pairs, as far as the client may know of them.
    fileprivate func matches(_ pairs: Attributes) throws(RequestError) -> CountedMatches {
        let groups = try groups(ItemQuery(.attributed))
        var scope = ItemScope(groups: groups.own) { context in
            context.also = { $0.isOwn($1) ? [] : [$0.listing($1)] }
        }
        // Most items need no proof: so they are looked at first without what only proofs rest on. An
        // item that rests on any of it is left to the second look.
        if !service.policy.now.judge.policy.asked.contains(AgeField.presence) {
            scope.needs = []
            begin(scope, given: nil)
            if let open = try matches(pairs, groups, unproven: true) { return open }
            scope.needs = .all
        }
        begin(scope, given: service.authentication.evidence(for: client))
        return try matches(pairs, groups, unproven: false)
            ?? CountedMatches(service.memory, for: client.caller.user)
    }

    /// nil where `unproven` is not enough: of some item it does not tell that it is open.
    private func matches(
        _ pairs: Attributes, _ groups: GroupScope, unproven: Bool
    ) throws(RequestError) -> CountedMatches? {
        let name = keychain.id.name.description
        let keys = try keys
        var query = ItemQuery(.attributed)
        query.attributes = pairs
        // Which of others' items a rule tells of can't be judged while they don't open: a program that
        // names a pair of one hears of it, as it would of a stranger's.
        let sealed = pairs.nameMoreThanSchema ? groups.all : groups.own + groups.joined
        let none = CountedMatches(service.memory, for: client.caller.user)
        var found = none
        var refusal: RequestError?
        var isEnough = true
        do throws(KeychainStoreError) {
            try keychain.file.forEachAttributed(
                query, in: .groups(groups.all), sealed: .groups(sealed), keys: keys.classKeys
            ) { candidate in
                do throws(RequestError) {
                    let known =
                        unproven
                        ? try standingUnproven(to: candidate)
                        : try standing(to: candidate, asked: pairs)
                    guard let standing = known else {
                        isEnough = !unproven
                        guard isEnough else { return false }
                        return true
                    }
                    try found.append(
                        RankedMatch(
                            keychain: name, order: standing.order, isLocked: standing.isLocked))
                    return found.all.count < AttributedLimits.mostItems
                } catch {
                    refusal = error
                    return false
                }
            }
        } catch {
            guard error == .locked else { throw RequestError(error) }
            // Which items there are is not known: none that was met before counts.
            found = none
            try found.append(RankedMatch(keychain: name, order: nil, isLocked: true))
            return found
        }
        if let refusal { throw refusal }
        guard isEnough else { return nil }
        try settle { () throws(RequestError) in
            // Of a limit that is exhausted.
            guard pending.items.isEmpty else { throw .refused(.interactionNotAllowed) }
        }
        return found
    }

    /// nil unless the client may have the secret although nothing was proven.
    private func standingUnproven(
        to candidate: AttributedCandidate
    ) throws(RequestError) -> (order: AttributedOrder, isLocked: Bool)? {
        guard case .opened(let item) = candidate, ItemNeeds(of: item, toDo: .decrypt).isEmpty,
            try isOpenUnproven(item)
        else { return nil }
        return (item.order, false)
    }

    /// nil where the client may not know of the item.
    private func standing(
        to candidate: AttributedCandidate, asked pairs: Attributes
    ) throws(RequestError) -> (order: AttributedOrder, isLocked: Bool)? {
        switch candidate {
        case .sealed(let reference, let isWhole):
            let pairs = isWhole ? pairs.tellingPairs.count : nil
            return (AttributedOrder(sealed: reference, pairs: pairs), true)
        case .opened(let item):
            guard let isLocked = try isLocked(item) else { return nil }
            return (item.order, isLocked)
        }
    }
}
