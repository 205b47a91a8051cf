// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Searches one keychain after the other, as if they were one.
    func copyMatching(
        _ query: ItemQuery, for client: any Client, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item] {
        let keychains = try keychains(query, toChange: false, for: client)
        guard query.limit != 0 else { throw .state(.notFound) }
        return try withoutActuallyEscaping(emit) { emit throws(RequestError) in
            let prompts = prompts(client)
            let answer = AnswerWriter(limit: query.limit, prompts, memory, emit)
            // The user is asked for another program's item only after all keychains were searched:
            // the program's own item may lie in a later one.
            let isLookedFor = keychains.ids.count > 1 && query.namesOneItem
            do throws(RequestError) {
                return try read(query, keychains, mayConsent: !isLookedFor, prompts, into: answer)
            } catch { guard error == .state(.notFound), isLookedFor else { throw error } }
            // No question is put where the machine's keychain is open elsewhere: a second look
            // there would find no more.
            return try read(
                query, keychains.opened(in: folder), mayConsent: true, prompts, into: answer)
        }
    }

    private func read(
        _ query: ItemQuery, _ keychains: SearchedKeychains, mayConsent: Bool,
        _ prompts: UserPrompts, into answer: AnswerWriter
    ) throws(RequestError) -> [Item] {
        var begun = 0
        do throws(RequestError) {
            try withAccess(
                to: keychains, .read(query), prompts, unless: { answer.count > begun },
                elsewhere: { () throws(RequestError) in
                    try readElsewhere(query, for: prompts.client, into: answer)
                }
            ) { access throws(RequestError) in
                begun = answer.count
                let search = try SearchPass(query, atMost: answer.rest, access)
                try access.authorize(search, mayConsent: mayConsent)
                try search.each(access) { item throws(RequestError) in
                    try self.write(item, search, access, to: answer)
                    return !answer.isFull
                }
                if answer.count == begun { try access.refuseLocked(query) }
                return answer.isFull
            }
            return try answer.finish()
        } catch {
            // A request for all secrets is never put to the user: its error is the same whether or
            // not a question was possible.
            throw error == .refused(.interactionNotAllowed) && query.wantsAllSecrets
                ? .invalid(.needsProofOfEach) : error
        }
    }

    /// Has the machine's keychain searched by the process that has it open, as if it were open
    /// here. Returns whether the answer is full.
    private func readElsewhere(
        _ query: ItemQuery, for client: any Client, into answer: AnswerWriter
    ) throws(RequestError) -> Bool {
        guard let machine = client.machine else { throw .failed(.notAvailable) }
        let name = KeychainName.system.description
        let isNamed = query.keychain != nil
        var asked = query
        asked.keychain = name
        asked.limit = answer.rest
        do throws(RequestError) {
            try machine.ask(CopyMatching(asked), for: client) { part throws(RequestError) in
                if isNamed { client.notes.noteRecordElsewhere(of: nil) }
                try answer.add(part: isNamed ? part : part.map { $0.lying(in: name) })
            }
        } catch {
            if isNamed, error != .failed(.notAvailable) {
                client.notes.noteRecordElsewhere(of: error)
            }
            throw error
        }
        return answer.isFull
    }

    /// Opens the item, unless it is one to leave out, and adds it to the answer.
    private func write(
        _ item: SealedItem, _ search: SearchPass, _ access: Authorization, to answer: AnswerWriter
    ) throws(RequestError) {
        let keys = try access.keys
        let wanted = search.matcher
        let wantsSecret = wanted.query.returnFields.contains(.data)
        guard let grant = try grant(item, access, keys, wanted) else { return }
        let bytes = wantsSecret ? try unreadSecretSize(item, access.keychain) : 0
        try answer.begin(item, bytes: bytes, keys)
        let isStrange = search.trusts(item)
        if isStrange, access.consent == nil { access.client.notes.note(trust: "listed") }
        if try access.context.isJoined(item) { access.client.notes.note(trust: "joined") }
        let redacted = grant.redacted
        var opened = (item: item, secret: HeldSecret?.none)
        if wantsSecret {
            guard let found = try open(item, access, keys, grant, wanted) else { return }
            opened = (found.item, found.secret)
        }
        let keychain = wanted.query.keychain == nil ? access.keychain.nameToTell : nil
        try answer.add(
            opened.item.answered(
                wanted.query.returnFields, without: redacted, isStrange: isStrange,
                from: keychain, opened.secret),
            of: opened.item)
    }

    /// Returns nil for an item that the answer leaves out.
    private func grant(
        _ item: SealedItem, _ access: Authorization, _ keys: RequestKeys, _ wanted: ItemMatcher
    ) throws(RequestError) -> Grant? {
        let skips = wanted.query.authenticationUI == .skip
        if skips, wanted.query.returnFields.contains(.data), item.needsApplicationPassword,
            keys.classKeys.applicationKey == nil
        {
            return nil
        }
        do throws(RequestError) { return try access.grant(item) } catch {
            // An item whose proof can't be given on this machine fails to authenticate.
            let needsProof =
                error == .refused(.interactionNotAllowed)
                || error == .refused(.authenticationFailed)
            guard skips, needsProof else { throw error }
            return nil
        }
    }

    /// Returns nil for an item that is gone or lost; the other items are answered all the same.
    private func open(
        _ item: SealedItem, _ access: Authorization, _ keys: RequestKeys,
        _ grant: consuming Grant, _ wanted: ItemMatcher
    ) throws(RequestError) -> OpenedItem? {
        var grant: Grant? = consume grant
        let guessed = item.needsApplicationPassword ? [item.reference] : []
        do throws(RequestError) {
            return try guessing(guessed, in: access.keychain) { () throws(KeychainStoreError) in
                guard let grant = grant.take() else { throw .notGranted }
                return try access.keychain.file.open(item, grant, keys: keys.classKeys)
            }
        } catch
            where error == .state(.notFound)
            || (error == .refused(.wrongApplicationPassword)
                && wanted.query.authenticationUI == .skip)
        {
            return nil
        }
    }

    private func unreadSecretSize(
        _ item: SealedItem, _ keychain: OpenKeychain
    ) throws(RequestError) -> Int {
        do { return try keychain.file.unreadSecretSize(item) } catch { throw RequestError(error) }
    }
}

extension Authorization {
    /// Authorises all items of the search: looks at every item that will be read, and asks the user
    /// once for all of them. When it returns, the items may be opened.
    func authorize(_ search: SearchPass, mayConsent: Bool) throws(RequestError) {
        if mayConsent { try askForConsent(search) }
        if try !considersUnasked(search) {
            let evidence = service.authentication.evidence(for: client)
            begin(search.scope, given: evidence.adding(consent?.evidence ?? Evidence()))
            try considerAll(of: search)
        }
        try settle { () throws(RequestError) in try refuseToAsk(search.matcher) }
        let isListed = consent?.choice.lasts == true
        let readsSecrets = search.matcher.query.returnFields.contains(.data)
        if pending.usesApplicationPassword, isListed || readsSecrets {
            try takeApplicationKey(isNew: false, to: pending.passwordItems)
        }
        if isListed { try service.consent.list(search, self) }
    }

    /// Judges the items found without the facts that matter only where the user is asked: most items
    /// need no proof, or one that was given before. Returns false where those facts must be looked up.
    private func considersUnasked(_ search: SearchPass) throws(RequestError) -> Bool {
        guard let found = search.found, consent == nil else { return false }
        let judge = service.policy.now.judge
        if !search.needs.contains(.proof), !judge.policy.asked.contains(AgeField.presence) {
            begin(search.scope, given: nil)
            if try considersUnasked(found) { return true }
        }
        let evidence = service.authentication.evidence(for: client)
        guard !evidence.isEmpty else { return false }
        begin(search.scope, given: evidence, withoutQuestion: true)
        return try considersUnasked(found)
    }

    private func considerAll(of search: SearchPass) throws(RequestError) {
        if search.matcher.query.authenticationUI == .skip {
            // The program may have given the password before.
            guard client.context?.applicationPassword != nil else { return }
            try search.each(self) { item throws(RequestError) in
                considerPassword(of: item)
                return !pending.usesApplicationPassword
            }
            return
        }
        var count = 0
        try search.each(self) { item throws(RequestError) in
            try consider(item)
            count += 1
            return count != search.limit
        }
    }

    /// Refuses to ask for the secrets of all passwords at once: a user can't weigh such a question.
    /// The program must ask for references first, and then for the secrets that it wants.
    private func refuseToAsk(_ wanted: ItemMatcher) throws(RequestError) {
        guard wanted.query.wantsAllSecrets else { return }
        let hasPassword = client.context?.applicationPassword != nil
        guard pending.items.isEmpty, !pending.usesApplicationPassword || hasPassword else {
            throw .invalid(.needsProofOfEach)
        }
    }
}

extension SealedItem {
    /// The fields that an answer carries: no attributes where only the secret or the reference was
    /// asked for.
    func answered(
        _ parts: ReturnFields, without redacted: [String] = [], isStrange: Bool = false,
        from keychain: String?, _ secret: HeldSecret?
    ) -> Item {
        guard parts.isEmpty || parts == .data || parts == .persistentReference else {
            let hidden = redacted.compactMap { PolicyEffect.attribute($0) }
            return Item(
                reference: reference,
                attributes: hidden.isEmpty
                    ? attributes : attributes.filter { !hidden.contains($0.key) },
                accessControl: accessControl.bound(to: []),
                // A program that an item merely trusts must not learn which other programs it
                // trusts.
                trusted: isStrange ? nil : trusted, keychain: keychain, secret: secret)
        }
        return Item(
            reference: reference, attributes: [:], accessControl: .plain(protection),
            keychain: keychain, secret: secret)
    }
}

extension Item {
    /// The same item, with the name of its keychain.
    fileprivate func lying(in keychain: String) -> Item {
        Item(
            reference: reference, attributes: attributes, accessControl: accessControl,
            trusted: trusted, keychain: keychain, secret: secret)
    }
}

/// Writes an answer, in parts where it is long. Before each part leaves, the client and the unlock
/// that opened the part's items are checked once more.
final class AnswerWriter {
    /// Items of one part.
    static let mostItems = 256
    /// Bytes of one part, attributes and secrets, but for the last item in it.
    static let mostBytes = 256 * 1024
    /// Bytes of secrets of one answer.
    private static let mostBytesInAll = 64 * 1024 * 1024

    private let limit: Int?
    private let prompts: UserPrompts
    private let memory: MemoryBudget
    private let emit: ([Item]) throws(RequestError) -> Void
    private var part: [Item] = []
    /// The keys, and so the unlock, that opened the items of this part.
    private var keys: RequestKeys?
    /// The availabilities of the part's items: one bit for each raw value.
    private var availabilities: UInt8 = 0
    private var partBytes = 0
    private var allBytes = 0
    private var shares: [any AnyObject & Sendable] = []
    private(set) var count = 0

    /// How many items are still wanted; nil is all.
    var rest: Int? { limit.map { $0 - count } }
    var isFull: Bool { rest == 0 }

    /// `emit` takes the parts but the last, which `finish` gives back.
    init(
        limit: Int?, _ prompts: UserPrompts, _ memory: MemoryBudget,
        _ emit: @escaping ([Item]) throws(RequestError) -> Void
    ) {
        self.limit = limit
        self.prompts = prompts
        self.memory = memory
        self.emit = emit
    }

    /// Prepares for opening an item with `bytes` of secret still to be read. After a part was sent,
    /// the unlock is checked again, as the client may have taken long to read that part. Where
    /// memory lacks room for both, the pending part is sent first.
    func begin(_ item: SealedItem, bytes: Int, _ keys: RequestKeys) throws(RequestError) {
        if self.keys !== keys {
            // The pending items were opened with another unlock.
            try send()
            self.keys = keys
        }
        if count > 0, part.isEmpty { try keys.check(item.availability) }
        guard bytes > 0 else { return }
        let user = prompts.client.caller.user
        do throws(RequestError) { try takeRoom(bytes, for: user, patience: .zero) } catch {
            try send()
            try takeRoom(bytes, for: user, patience: MemoryBudget.patience)
        }
    }

    private func takeRoom(
        _ bytes: Int, for user: UInt32, patience: Duration
    ) throws(RequestError) {
        if let share = try memory.take(bytes, for: user, patience: patience) {
            shares.append(share)
        }
    }

    func add(_ item: consuming Item, of found: SealedItem) throws(RequestError) {
        let secretBytes = item.secret?.bytes.count ?? 0
        allBytes += secretBytes
        guard allBytes <= Self.mostBytesInAll else { throw .invalid(.dataTooLarge) }
        partBytes += secretBytes
        if !item.attributes.isEmpty {
            partBytes += found.attributeBytes
            if let room = found.room { shares.append(room) }
        }
        availabilities |= 1 << found.availability.rawValue
        count += 1
        part.append(consume item)
        if part.count == Self.mostItems || partBytes >= Self.mostBytes { try send() }
    }

    /// Adds items that another process has opened, which has checked the unlock that opened them.
    /// They are a part of their own, as that process has made them one.
    func add(part items: [Item]) throws(RequestError) {
        guard !items.isEmpty else { return }
        try send()
        keys = nil
        guard rest.map({ items.count <= $0 }) ?? true else { throw .failed(.internalError) }
        let bytes = items.reduce(0) { $0 + ($1.secret?.bytes.count ?? 0) }
        allBytes += bytes
        guard allBytes <= Self.mostBytesInAll else { throw .invalid(.dataTooLarge) }
        if bytes > 0 {
            try takeRoom(
                bytes, for: prompts.client.caller.user, patience: MemoryBudget.patience)
        }
        count += items.count
        part = items
    }

    /// Returns the last part. A part with counted memory is sent from here instead, while that
    /// memory still counts.
    func finish() throws(RequestError) -> [Item] {
        guard count > 0 else { throw .state(.notFound) }
        if shares.isEmpty { try check() } else { try send() }
        return part
    }

    private func send() throws(RequestError) {
        guard !part.isEmpty else { return }
        try check()
        try emit(part)
        part.removeAll(keepingCapacity: true)
        availabilities = 0
        partBytes = 0
        shares.removeAll()
    }

    private func check() throws(RequestError) {
        try prompts.checkClient()
        guard let keys else { return }
        for availability in Accessibility.Availability.allCases
        where availabilities >> availability.rawValue & 1 != 0 {
            try keys.check(availability)
        }
    }
}

extension SealedItem {
    /// When the item's class key is available.
    var availability: Accessibility.Availability { protection.availability }
}
