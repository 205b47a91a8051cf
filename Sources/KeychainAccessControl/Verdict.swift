// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

/// What the judge says of a request.
public enum Verdict: ~Copyable, Sendable {
    case allow(Grant)
    case deny(Denial)
    /// Allowed once this has been proven; then the request is judged again.
    case allowAfter(Requirement)
}

/// Why a request is refused.
public enum Denial: Sendable, Hashable {
    /// The item is none of the caller's business: for the caller it does not exist.
    case unknownItem
    /// The item's access control forbids the operation, or what it asks for can't be proven here.
    case impossible
    /// Rules of the administrator's policy forbid it: their ids, and where the first stands.
    case forbidden(because: [String], first: String?)
    /// A class key is not there.
    case locked
    /// The item's class needs a password protector, and there is none.
    case passcodeNotSet
    /// A question would be needed, and none may be asked.
    case interactionNotAllowed
}

/// The right to do one operation on one item, once. Only a judgement makes one; the code that opens
/// an item uses it up.
public struct Grant: ~Copyable, Sendable {
    public let operation: ItemOperation
    public let reference: ItemReference
    public let accessControl: ItemAccessControl
    /// Attributes that the policy keeps from the answer, by their names there.
    public let redacted: [String]
    /// A rule wants a line of its own for it in the audit.
    public let wantsFullAudit: Bool
    /// The rule that allowed it, where one did.
    public let because: String?

    init(
        _ request: AccessRequest, redacted: [String] = [], because: String? = nil,
        wantsFullAudit: Bool = false
    ) {
        operation = request.circumstances.operation
        reference = request.item.reference
        accessControl = request.item.accessControl
        self.redacted = redacted
        self.because = because
        self.wantsFullAudit = wantsFullAudit
    }
}
