// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainUserPresence

/// What must be proven before items may be used: gathered first, so that the user is asked once.
struct PendingRequirements: Sendable {
    /// Items that one question may be about: they are all remembered while it is open.
    private static let mostItems = 16_384

    private(set) var requirements: Set<Requirement> = []
    /// The items that need a proof: the evidence that comes of it is good for these alone.
    private(set) var items: Set<ItemReference> = []
    /// What people know the first of them by.
    private(set) var names: [String] = []
    /// Of all that were looked at.
    private(set) var first: SealedItem?
    /// Items that were made with an application password, as many as a question names.
    private(set) var passwordItems: Set<ItemReference> = []
    var usesApplicationPassword: Bool { !passwordItems.isEmpty }
    /// Some of those that need a proof are not the caller's own.
    private(set) var hasOthers = false
    /// How far what is proven will count.
    private(set) var reaches: Set<ProofReach> = []
    /// The names of those, which the user is told where a password is all that is asked for.
    private(set) var passwordNames: [String] = []
    /// What was proven before.
    let evidence: Evidence

    init(given evidence: Evidence) { self.evidence = evidence }

    /// Of items that need no proof.
    init(plain items: [SealedItem]) {
        self.init(given: Evidence())
        for item in items { note(item) }
    }

    mutating func note(_ item: SealedItem) {
        if first == nil { first = item }
        noteApplicationPassword(of: item)
    }

    /// Of an item that a query would leave out, but for a password that lies ready.
    mutating func noteApplicationPassword(of item: SealedItem) {
        guard item.needsApplicationPassword, passwordItems.count < Question.mostNames else {
            return
        }
        if passwordItems.insert(item.reference).inserted { passwordNames.append(item.shownName) }
    }

    mutating func add(
        _ requirement: Requirement, for item: SealedItem, ofOthers: Bool, _ reaches: Set<ProofReach>
    ) throws(RequestError) {
        guard items.count < Self.mostItems else { throw .invalid(.dataTooLarge) }
        require(requirement, for: item)
        hasOthers = hasOthers || ofOthers
        self.reaches.formUnion(reaches)
    }

    mutating func require(_ requirement: Requirement, for item: SealedItem) {
        requirements.insert(requirement)
        guard items.insert(item.reference).inserted, names.count < Question.mostNames else {
            return
        }
        names.append(item.shownName)
    }
}
