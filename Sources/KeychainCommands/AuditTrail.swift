// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The audit records of a state folder, oldest first: what was kept of files that were moved aside,
/// then the file that is written to, then the one that is begun after it.
package struct AuditTrail {
    private let path: String
    private var older: AuditLines?
    private var current: AuditLines?

    package init(folder: String) throws(CommandFailure) {
        guard FileIdentity(folder) != nil else {
            throw CommandFailure(
                .failure, name: "noRecords", "there is no folder \(folder)",
                advice: """
                    The keychain service keeps its records there; --state names another folder. \
                    Without the service nothing is recorded.
                    """)
        }
        path = folder + "/audit.jsonl"
        // Again where the file was moved aside meanwhile: its lines are in the other one now.
        repeat {
            current = try AuditLines(path)
            older = try AuditLines(path + ".1")
        } while current != nil && FileIdentity(path) != current?.place
        if older?.place == current?.place { older = nil }
    }

    /// Some lines, without their ends; nil when nothing more is there now.
    package mutating func next() throws(CommandFailure) -> [[UInt8]]? {
        if let lines = try older?.next() { return lines }
        older = nil
        if let lines = try current?.next() { return lines }
        guard FileIdentity(path) != current?.place else { return nil }
        // Moved aside: nothing is added to it any more, but something may have been just before.
        if let lines = try current?.next() { return lines }
        current = try AuditLines(path)
        return try current?.next()
    }

    /// What stands behind the last line end.
    var unfinished: [UInt8]? { current?.rest }
}
