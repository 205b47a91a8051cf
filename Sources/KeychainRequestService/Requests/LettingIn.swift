// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel

/// An item of another program that the user lets the asking one have.
struct LetIn: Sendable {
    let item: SealedItem
    let choice: TrustChoice
    /// What the user has proven on that occasion: good for this request and not kept.
    let evidence: Evidence
}

extension KeychainService {
    /// Where nothing was found the user may be asked to let the program have another one's item.
    func letIn(
        _ reading: inout Reading, _ intent: Intent, _ keys: RequestKeys, for asker: any Asker
    ) throws(Refusal) -> LetIn? {
        let query = reading.query
        guard query.namesOneItem, authentication.mayAsk(query.authenticationUI, for: asker)
        else { return nil }
        var isNothing = reading.found?.isEmpty ?? true
        if reading.found == nil {
            let access = try Authorization(
                intent, within: reading.groups.own, keys, for: asker, by: self,
                given: authentication.evidence(for: asker), refine: reading.refine)
            try each(reading, access) { _ throws(Refusal) in
                isNothing = false
                return false
            }
        }
        guard isNothing,
            let letIn = try letIn(
                query, as: intent.policyOperation, besides: reading.groups.all, keys.keychain,
                keys.classKeys, for: asker)
        else { return nil }
        reading.admit(letIn.item)
        return letIn
    }

    /// Writes the program into the list of the item that its user has let it have.
    func list(_ reading: Reading, _ access: Authorization) throws(Refusal) {
        let caller = access.client.caller
        guard let identity = caller.identity.identifier, let strength = caller.identity.strength
        else { throw .internalError }
        let application = TrustedApplication(
            identity, strength: strength, listedBy: nil,
            listedAt: Date().timeIntervalSinceReferenceDate)
        let meant = reading.found ?? []
        for item in meant { try access.keys.unlock.check(item.availability) }
        let guessed = meant.filter(\.accessControl.needsApplicationPassword).map(\.reference)
        _ = try guessing(guessed, in: access.keychain) { () throws(KeychainStoreError) in
            try access.keychain.file.update(
                meant.map(\.meant), ItemChange(), nil, keys: access.keys.classKeys,
                trust: { TrustList(($0?.applications ?? []) + [application]) }
            ) { item in
                guard case .allow(let grant) = access.verdict(on: item) else { return nil }
                return grant
            }
        }
    }
}

extension KeychainService {
    /// Items of the same name that are looked at, of whichever program.
    private static let mostCandidates = 8

    /// Asks the user whether a program may have an item that belongs to another one and has a list
    /// (docs/design/proofs.md, Trusted applications). nil is "not found": wherever no question was
    /// put, the asker hears the same as of an item that is not there.
    private func letIn(
        _ query: ItemQuery, as operation: PolicyOperation, besides groups: [String],
        _ keychain: OpenKeychain, _ keys: borrowing ClassKeys, for asker: any Asker
    ) throws(Refusal) -> LetIn? {
        guard asker.caller.identity.strength != nil else { return nil }
        var found: SealedItem?
        let answer: TrustAnswer?
        do throws(Refusal) {
            answer = try authentication.letIn(for: asker) {
                candidate(query, as: operation, besides: groups, keychain, keys, asker).map {
                    found = $0.item
                    return ($0.question, $0.offer)
                }
            }
        } catch {
            guard error == .cancelled || error == .authenticationFailed else { return nil }
            asker.notes.note(trust: "denied")
            throw error
        }
        guard let item = found, let answer else { return nil }
        guard asker.isUnchanged() else { throw .notEntitled }
        var choice = answer.choice
        if choice == .session, !authentication.trust.allow(item.reference, for: asker.caller) {
            choice = .once
        }
        asker.notes.note(trust: choice.rawValue)
        let evidence = answer.proven.reduce(Evidence()) { $0.adding($1) }
        return LetIn(item: item, choice: choice, evidence: evidence)
    }

    private struct Candidate {
        let item: SealedItem
        let question: Question
        let offer: TrustOffer
    }

    /// The item that the user could be asked about, if all else allows it. Whatever goes wrong is no
    /// more than nothing found.
    private func candidate(
        _ query: ItemQuery, as operation: PolicyOperation, besides groups: [String],
        _ keychain: OpenKeychain, _ keys: borrowing ClassKeys, _ asker: any Asker
    ) -> Candidate? {
        var search = query
        search.limit = Self.mostCandidates
        let given = authentication.evidence(for: asker)
        guard asker.caller.identity.strength != nil,
            let found = try? keychain.file.find(search, in: .askable(besides: groups), keys: keys),
            !found.isEmpty,
            var reading = try? judging(
                .decrypt, as: operation, keychain, keys, groups: asker.caller.accessGroups,
                ui: query.authenticationUI, given: given, for: asker),
            var changing = try? judging(
                .decrypt, as: .changeACL, keychain, keys, groups: asker.caller.accessGroups,
                ui: query.authenticationUI, given: given, for: asker)
        else { return nil }
        reading.admission = { _ in .trusted }
        changing.admission = { _ in .mayChange }
        for item in found {
            guard mayAsk(for: item, reading, given),
                let offer = offer(of: item, reading, changing, asker)
            else { continue }
            let question = Question(
                .read, names: [item.shownName], itemCount: 1, items: [item.reference],
                reason: query.reason ?? asker.context?.reason,
                remarks: ["The item belongs to \(ProgramWords.of(item.accessGroup))."]
                    + asker.caller.identity.remarks)
            return Candidate(item: item, question: question, offer: offer)
        }
        return nil
    }

    private func mayAsk(
        for item: SealedItem, _ reading: Judging, _ given: Evidence
    ) -> Bool {
        if case .deny = reading.judge(item, given) { return false }
        return isWithinLimits(item, reading)
    }

    /// What may be chosen, each with the proof that it takes. Without a password no user can be
    /// proven to be the keychain's owner, so that none is asked.
    private func offer(
        of item: SealedItem, _ reading: Judging, _ changing: Judging, _ asker: any Asker
    ) -> TrustOffer? {
        let presence = Requirement(.factor(.presence))
        guard reading.circumstances.keychain.isPasscodeSet == true,
            let proof = presence.cheapestProof(available: reading.circumstances.provable)
        else { return nil }
        var offer = TrustOffer()
        offer.proofs[.once] = proof
        if asker.caller.session != nil { offer.proofs[.session] = proof }
        let count = item.trusted?.applications.count ?? 0
        guard count < TrustList.mostApplications else { return offer }
        let listing: Requirement
        switch changing.judge(item, Evidence()) {
        case .allow: listing = presence
        case .allowAfter(let asked): listing = .all([presence, asked])
        case .deny: return offer
        }
        offer.proofs[.always] = listing.cheapestProof(available: reading.circumstances.provable)
        return offer
    }
}

extension ItemQuery {
    /// Whether it names one item so well that who asks knows of it from somewhere: what others have
    /// can't be found out by such queries, but for what was guessed right.
    var namesOneItem: Bool {
        guard limit == 1, !parts.isEmpty, accessGroup == nil, folding.isEmpty,
            hostOrSubdomain == nil, authenticationUI == .allow
        else { return false }
        if let references { return references.count == 1 }
        return switch itemClass {
        case .genericPassword: has(.service) && has(.account)
        case .internetPassword: has(.server) && has(.account)
        case .certificate: has(.issuer) && has(.serialNumber)
        case .key: has(.applicationLabel) || has(.applicationTag)
        }
    }

    private func has(_ name: AttributeName) -> Bool {
        attributes[name].map { !$0.comparedBytes.isEmpty } ?? false
    }
}

extension Caller.Identity {
    /// What a user should know before such a program is let in.
    fileprivate var remarks: [String] {
        switch self {
        case .trustedExecutable(let path), .executable(let path):
            Interpreters.contains(path)
                ? ["It is an interpreter: whatever it runs would be let in too."] : []
        default: []
        }
    }
}
