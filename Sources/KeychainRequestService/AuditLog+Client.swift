// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence

extension AuditLog {
    func record(
        _ operation: Operation, _ client: any Client, _ evidence: Evidence, _ error: RequestError?
    ) {
        record(
            operation, by: Subject(client.caller), evidence: evidence, error, notes: client.notes
        ) { client.factsToTell() }
    }
}
