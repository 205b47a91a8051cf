// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import KeychainPolicyModel
internal import PolicyTools

/// The requests that the keychain service has recorded.
struct PolicyRecords: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Not older than this: 90s, 30m, 1h, 7d, boot, or an ISO 8601 time.",
            valueName: "when"),
        transform: Self.moment)
    var since: Date
    @Option(help: "The folder that the keychain service was given with --state.")
    var state = "/var/lib/keychain"

    /// A recorded request.
    struct Entry {
        let record: AuditRecord
        let request: PolicyRequest
        let decision: PolicyOutcome
    }

    /// All recorded requests, and the number of records that lack facts.
    func read() throws(CommandFailure) -> (entries: [Entry], untold: Int) {
        var trail = try AuditTrail(folder: state)
        var entries: [Entry] = []
        var untold = 0
        while let lines = try trail.next() {
            for record in lines.compactMap(AuditRecord.init) where record.time >= since {
                guard let entry = Entry(record) else {
                    untold += record.isJudged ? record.count : 0
                    continue
                }
                entries.append(entry)
            }
        }
        return (entries, untold)
    }

    static func moment(_ text: String) throws -> Date {
        if text == "boot", let moment = Self.started { return moment }
        guard let time = AuditTime(text, before: Date()) else {
            throw ValidationError(
                "“\(text)” is no time; write 30m, 1h, 7d, boot, 2026-01-31 or 2026-01-31T08:00:00Z")
        }
        return time.date
    }

    private static var started: Date? {
        let text = FileManager.default.contents(atPath: "/proc/uptime") ?? Data()
        return String(decoding: text, as: UTF8.self).split(separator: " ").first
            .flatMap { Double($0) }.map { Date().addingTimeInterval(-$0) }
    }
}

extension PolicyRecords.Entry {
    /// The request is decided again for the day on which it was recorded.
    fileprivate init?(_ record: AuditRecord) {
        let day = LocalTime(at: Int(record.time.timeIntervalSince1970)).day
        guard let line = record.request,
            let decision = record.decision.flatMap({ PolicyOutcome(rawValue: $0) }),
            let request = try? RequestLine.read(line, today: day)
        else { return nil }
        self.init(record: record, request: request, decision: decision)
    }
}

extension AuditRecord {
    /// Whether policies took part in the decision.
    fileprivate var isJudged: Bool {
        ["copyMatching", "add", "update", "delete"].contains(operation)
    }
}
