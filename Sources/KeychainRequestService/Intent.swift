// SPDX-License-Identifier: Apache-2.0
internal import KeychainUserPresence
internal import KeychainAccessControl
internal import KeychainModel
internal import KeychainPolicyModel

/// What a verb does with items, in the engine's words and in those of the question.
struct Intent: Sendable {
    let operation: ItemOperation
    let policyOperation: PolicyOperation
    let purpose: Question.Purpose
    let ui: ItemQuery.AuthenticationUI
    let reason: String?

    static func read(_ query: ItemQuery) -> Intent {
        let readsSecrets = query.returnFields.contains(.data)
        return Intent(
            operation: .decrypt, policyOperation: readsSecrets ? .readSecret : .readAttributes,
            purpose: readsSecrets ? .read : .list, ui: query.authenticationUI,
            reason: query.reason)
    }

    static func add(_ item: NewItem) -> Intent {
        Intent(
            operation: .encrypt, policyOperation: .add, purpose: .add, ui: item.authenticationUI,
            reason: item.reason)
    }

    static func update(_ query: ItemQuery) -> Intent {
        Intent(
            operation: .decrypt, policyOperation: .update, purpose: .change,
            ui: query.authenticationUI, reason: query.reason)
    }

    static func delete(_ query: ItemQuery) -> Intent {
        Intent(
            operation: .delete, policyOperation: .delete, purpose: .delete,
            ui: query.authenticationUI, reason: query.reason)
    }

    /// The same words for the user, judged as another operation of policies.
    func judged(as operation: PolicyOperation) -> Intent {
        Intent(
            operation: self.operation, policyOperation: operation, purpose: purpose, ui: ui,
            reason: reason)
    }
}
