// SPDX-License-Identifier: Apache-2.0

/// Another place that gets a copy of each audit record, such as the journal. It is called while a
/// request waits, and must return at once.
package protocol AuditSink: Sendable {
    func append(_ record: AuditRecord)
    /// Called once, before the process ends.
    func finish()
}
