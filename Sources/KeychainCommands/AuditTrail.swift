// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The audit records of a state folder, oldest first. Its folder `audit` has each user's records in
/// a file of their own.
package struct AuditTrail {
    private static let ending = ".jsonl"

    private let folder: String
    /// By the name of the file that is written to.
    private var users: [String: UserTrail] = [:]

    package init(folder: String) throws(CommandFailure) {
        guard FileIdentity(folder) != nil else {
            throw CommandFailure(
                .failure, name: "noRecords", "there is no folder \(folder)",
                advice: """
                    The keychain service keeps its records there; --state names another folder. \
                    Without the service nothing is recorded.
                    """)
        }
        self.folder = folder + "/audit"
        try findUsers()
    }

    private mutating func findUsers() throws(CommandFailure) {
        do throws(SystemError) { _ = try PieceFile(reading: folder) } catch {
            // Otherwise it is a folder, or nothing was recorded yet.
            if error == .system(PrivateFile.notAllowed) {
                throw CommandFailure(unreadable: folder, error)
            }
        }
        for name in FolderNames.all(in: folder) {
            let name = name.hasSuffix(UserTrail.older) ? String(name.dropLast(2)) : name
            guard name.hasSuffix(Self.ending), users[name] == nil else { continue }
            users[name] = try UserTrail(folder + "/" + name)
        }
    }

    /// Some lines, without their ends; nil when nothing more is there now.
    package mutating func next() throws(CommandFailure) -> [[UInt8]]? {
        try findUsers()
        for name in users.keys { try users[name]?.read() }
        var lines: [[UInt8]] = []
        // The oldest of the users' next lines, until a user has none left of those that were read.
        while !users.values.contains(where: \.isToBeRead),
            let user = users.filter({ $0.value.time != nil })
                .min(by: { ($0.value.time ?? "", $0.key) < ($1.value.time ?? "", $1.key) })?.key,
            let line = users[user]?.takeLine()
        { lines.append(line) }
        return lines.isEmpty ? nil : lines
    }

    /// What stands behind the last line ends.
    var unfinished: [[UInt8]] {
        users.sorted { $0.key < $1.key }.compactMap { $0.value.unfinished }
    }
}

/// The records of one user: those of the file that was moved aside, then those of the file that is
/// written to, then those of the file that is begun after it.
private struct UserTrail {
    static let older = ".1"
    private static let mark = Array(#""time":"#.utf8)

    private let path: String
    private var earlier: AuditLines?
    private var current: AuditLines?
    /// Lines that were read, the next one last, and the time of that one.
    private var lines: [[UInt8]] = []
    private(set) var time: String?
    /// Whether all that is there now was read.
    private var isAtEnd = false

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        // Again where the file was moved aside meanwhile: its lines are in the other one now.
        repeat {
            current = try AuditLines(path)
            earlier = try AuditLines(path + Self.older)
        } while current != nil && FileIdentity(path) != current?.place
        if earlier?.place == current?.place { earlier = nil }
    }

    var isToBeRead: Bool { lines.isEmpty && !isAtEnd }
    var unfinished: [UInt8]? { current?.rest }

    mutating func read() throws(CommandFailure) {
        isAtEnd = false
        while lines.isEmpty {
            guard let more = try nextLines() else {
                isAtEnd = true
                return
            }
            lines = more.reversed()
        }
        tellTime()
    }

    mutating func takeLine() -> [UInt8]? {
        defer { tellTime() }
        return lines.popLast()
    }

    /// A line without a time comes right after the one before it.
    private mutating func tellTime() {
        guard let line = lines.last else { return time = nil }
        time = Self.time(of: line) ?? time ?? ""
    }

    private mutating func nextLines() throws(CommandFailure) -> [[UInt8]]? {
        if let lines = try earlier?.next() { return lines }
        earlier = nil
        if let lines = try current?.next() { return lines }
        guard FileIdentity(path) != current?.place else { return nil }
        // Moved aside: nothing is added to it any more, but something may have been just before.
        if let lines = try current?.next() { return lines }
        current = try AuditLines(path)
        return try current?.next()
    }

    /// As it stands in the line: all are in UTC. No text within the line can imitate the key, as a
    /// text's quotes are escaped with a backslash.
    private static func time(of line: [UInt8]) -> String? {
        guard let key = line.indices.first(where: { line[$0...].starts(with: mark) }) else {
            return nil
        }
        let value = line[key...].dropFirst(mark.count).drop { $0 == UInt8(ascii: " ") }
        guard value.first == UInt8(ascii: "\"") else { return nil }
        let text = value.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
        return String(decoding: text, as: UTF8.self)
    }
}
