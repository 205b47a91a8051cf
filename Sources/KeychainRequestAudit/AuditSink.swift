// SPDX-License-Identifier: Apache-2.0

/// Receives a copy of each audit record, such as the journal. `append` is called while a request
/// waits, and must return at once.
package protocol AuditSink: Sendable {
    func append(_ record: AuditRecord)
    /// Called once, before the process ends.
    func finish()
}
