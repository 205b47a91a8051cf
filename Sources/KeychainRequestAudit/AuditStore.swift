// SPDX-License-Identifier: Apache-2.0

/// Keeps the lines of the audit. `append` is called while a request waits, and must return at once.
package protocol AuditStore: Sendable {
    /// Appends a line, which ends with a line end. Where it is lost, so many of the user's records
    /// are.
    func append(_ line: [UInt8], of user: UInt32, records: Int)
    /// The number of the user's records that were lost since the last call.
    func takeLost(of user: UInt32) -> Int
    /// Waits briefly for the last lines, before the process ends.
    func finish()
}
