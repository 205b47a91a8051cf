// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence

extension AuditLog {
    func record(
        _ operation: Operation, _ asker: any Asker, _ evidence: Evidence, _ refusal: Refusal?
    ) {
        record(
            operation, by: Subject(asker.caller), evidence: evidence, refusal, notes: asker.notes
        ) { asker.factsToTell() }
    }
}
