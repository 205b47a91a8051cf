// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainUserPresence

/// The proofs that items need before use, gathered first so that the user is asked once.
struct PendingRequirements: Sendable {
    /// The most items that one question may be about: all are held in memory while it is open.
    private static let mostItems = 16_384

    private(set) var requirements: Set<Requirement> = []
    /// The items that need a proof. The evidence that the question brings counts for these alone.
    private(set) var items: Set<ItemReference> = []
    /// Display names of the first of these items.
    private(set) var names: [String] = []
    /// The first of all items that were considered.
    private(set) var first: SealedItem?
    /// Items with an application password, at most as many as a question names.
    private(set) var passwordItems: Set<ItemReference> = []
    var usesApplicationPassword: Bool { !passwordItems.isEmpty }
    /// Whether some of the items that need a proof are not the caller's own.
    private(set) var hasOthers = false
    /// How far the new proofs will count.
    private(set) var reaches: Set<ProofReach> = []
    /// Display names of `passwordItems`, which the user is shown where only a password is asked
    /// for.
    private(set) var passwordNames: [String] = []
    /// Proofs made before this request.
    let evidence: Evidence

    init(given evidence: Evidence) { self.evidence = evidence }

    mutating func note(_ item: SealedItem) {
        if first == nil { first = item }
        noteApplicationPassword(of: item)
    }

    /// Notes an item that a query would leave out unless its password was given before.
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
