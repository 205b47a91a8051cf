// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

extension KeychainService {
    /// Items of one part of a long answer.
    private static let batch = 256
    /// Bytes of secrets of one answer.
    private static let mostSecretBytes = 64 * 1024 * 1024

    func copyMatching(
        _ query: ItemQuery, for asker: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        let caller = asker.caller
        let groups = try groups(query.accessGroup, of: caller)
        let keychain = try keychain(query.keychain, for: caller)
        let keys = try vault.keys(of: keychain)
        var reading = Reading(query, groups: groups)
        try findFew(&reading, keychain, keys)
        let judging = try judging(
            .decrypt, keychain, keys, groups: groups, ui: query.authenticationUI,
            few: reading.found, for: asker)
        let evidence = try needed(reading, keychain, keys, judging, for: asker)
        var answer = Answer()
        var total = 0
        var secretBytes = 0
        try each(reading, keychain, keys) { item throws(Refusal) in
            guard let opened = try open(item, keychain, keys, judging, evidence, query) else {
                return true
            }
            secretBytes += opened.secret?.bytes.count ?? 0
            guard secretBytes <= Self.mostSecretBytes else { throw .dataTooLarge }
            total += 1
            answer.items.append(opened)
            if answer.items.count == Self.batch {
                try emit(answer)
                answer.items.removeAll(keepingCapacity: true)
            }
            return total != query.limit
        }
        guard total > 0 else { throw .notFound }
        guard asker.isUnchanged() else { throw .notEntitled }
        audit?.record(.copyMatching, caller, evidence, nil)
        return answer
    }

    /// A query, and the items it found where those are few enough to be kept.
    private struct Reading {
        var query: ItemQuery
        let groups: [String]
        var found: [SealedItem]?

        init(_ query: ItemQuery, groups: [String]) {
            self.query = query
            self.groups = groups
        }
    }

    private func findFew(
        _ reading: inout Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys
    ) throws(Refusal) {
        guard let limit = reading.query.limit, limit <= Self.batch,
            reading.query.authenticationUI != .skip
        else { return }
        do {
            reading.found = try keychain.file.find(
                reading.query, groups: reading.groups, keys: keys)
        } catch { throw Refusal(error) }
    }

    /// Looks at everything that will be read, so that the user is asked once and for all of it.
    private func needed(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ judging: Judging, for asker: any Asker
    ) throws(Refusal) -> Evidence {
        if let found = reading.found {
            return try evidence(
                for: found, judging, .read, reason: reading.query.reason, for: asker)
        }
        if reading.query.authenticationUI == .skip { return Evidence() }
        var asking: [SealedItem] = []
        try each(reading, keychain, keys) { item throws(Refusal) in
            switch judging.judge(item, Evidence()) {
            case .allow: break
            case .deny(let denial): throw Refusal(denial)
            case .allowAfter: if asking.count < Self.batch { asking.append(item) }
            }
            return true
        }
        return try evidence(for: asking, judging, .read, reason: reading.query.reason, for: asker)
    }

    /// Hands out the items found until `body` has enough of them.
    private func each(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ body: (SealedItem) throws(Refusal) -> Bool
    ) throws(Refusal) {
        if let found = reading.found {
            for item in found where try !body(item) { return }
            return
        }
        var query = reading.query
        // Items that are left out must not use the limit up.
        if query.authenticationUI == .skip { query.limit = nil }
        var refusal: Refusal?
        do {
            try keychain.file.forEach(query, groups: reading.groups, keys: keys) { item in
                do throws(Refusal) { return try body(item) } catch {
                    refusal = error
                    return false
                }
            }
        } catch { throw Refusal(error) }
        if let refusal { throw refusal }
    }

    /// The item with what the query wants of it; nil for one that is left out.
    private func open(
        _ item: SealedItem, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ judging: Judging, _ evidence: Evidence, _ query: ItemQuery
    ) throws(Refusal) -> AnsweredItem? {
        switch judging.judge(item, evidence) {
        case .deny(.interactionNotAllowed) where query.authenticationUI == .skip: return nil
        case .deny(let denial): throw Refusal(denial)
        case .allowAfter: throw .authenticationFailed
        case .allow(let grant):
            guard query.parts.contains(.data) else {
                return AnsweredItem(item: item.answered(query.parts), secret: nil)
            }
            do {
                let opened = try keychain.file.open(item, grant, keys: keys)
                return AnsweredItem(
                    item: opened.item.answered(query.parts), secret: opened.secret)
            } catch  where error == .notFound || error == .corruptItem {
                // Gone or changed since it was found, or lost: none of the others is the worse for it.
                return nil
            } catch { throw Refusal(error) }
        }
    }
}

extension SealedItem {
    /// What an answer carries of it: no attributes where the secret or the name alone was asked for.
    fileprivate func answered(_ parts: ItemQuery.Parts) -> FoundItem {
        guard parts.isEmpty || parts == .data || parts == .persistentReference else {
            return found
        }
        return FoundItem(
            reference: reference, attributes: [:],
            accessControl: .plain(accessControl.protection))
    }
}
