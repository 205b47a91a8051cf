// SPDX-License-Identifier: Apache-2.0

/// What a record of the audit tells: the keys of its JSON object, for the service that writes it and
/// the command that reads it.
package enum AuditField: String, CodingKey, CaseIterable, Sendable {
    case time, operation, user, process, program, session
    /// Methods of proof.
    case evidence
    case outcome
    /// Ids of the rules that made it so.
    case because
    /// Fingerprints of the items that were concerned.
    case items
    case count, milliseconds
    /// What an item's list of programs had to do with it.
    case trust
    case request, decision, requires, would
    /// Facts of the request that were too long to be told.
    case cut
}
