// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
internal import KeychainModel

/// What the records tell of the policies that were read: each time with what has changed since the
/// time before.
package struct PolicyHistory {
    package struct Entry {
        package let time: Date
        package let lines: [String]
    }

    package private(set) var entries: [Entry] = []
    /// What is in force, and of which files, where they are known.
    private var rules: Int?
    private var files: [String: String]?

    package init() {}

    /// Of other records nothing is taken.
    package mutating func add(_ record: AuditRecord) {
        guard record.operation == "loadPolicies" else { return }
        guard let load = record.loaded else {
            let stays = record.policy.map { ": revision \($0) stays in force" } ?? ""
            return append(record, "not taken\(stays)", [])
        }
        let before = rules.map { $0 == load.rules ? "" : "\($0) → " } ?? ""
        let isOwn = record.outcome == .allowed ? "" : ", in place of files that can't be used"
        append(
            record, "revision \(record.policy ?? "unknown"): \(before)\(load.rules) rules\(isOwn)",
            changes(load) + load.weakened.map { "weakened: \($0)" })
        rules = load.rules
        let isWhole = load.unlisted == 0 && !load.files.isEmpty
        files =
            isWhole
            ? Dictionary(load.files.map { ($0.path, $0.hash) }, uniquingKeysWith: { $1 }) : nil
    }

    private mutating func append(_ record: AuditRecord, _ line: String, _ details: [String]) {
        entries.append(
            Entry(
                time: record.time,
                lines: ["\(record.timeText)  \(line)"] + details.map { "    \($0)" }))
    }

    private func changes(_ load: PolicyLoad) -> [String] {
        if load.unlisted > 0 { return ["\(load.files.count + load.unlisted) files"] }
        guard let files else { return load.files.map { "\($0.path) (\($0.hash))" } }
        let now = Dictionary(load.files.map { ($0.path, $0.hash) }, uniquingKeysWith: { $1 })
        if now.isEmpty { return [] }
        let removed = files.keys.filter { now[$0] == nil }.sorted().map { "removed: \($0)" }
        let found = load.files.compactMap { file -> String? in
            guard let old = files[file.path] else { return "added: \(file.path) (\(file.hash))" }
            return old == file.hash ? nil : "changed: \(file.path) (\(old) → \(file.hash))"
        }
        return removed + found
    }
}
