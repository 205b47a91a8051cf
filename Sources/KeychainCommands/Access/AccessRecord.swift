// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import Terminal

/// Whom an item lets in, as `--json` shows it. The names of its keys are fixed.
struct AccessRecord: Encodable {
    struct Application: Encodable {
        let program: String
        /// `guarded`, `root` or `weak`.
        let strength: String
        /// The program that listed it; nil where its user did when asked.
        let listedBy: String?
        let listedAt: String
        /// The strength for people: what keeps other programs from bearing the name.
        let guarding: String

        private enum CodingKeys: CodingKey { case program, strength, listedBy, listedAt }

        init(_ application: TrustedApplication) {
            program = application.identity
            strength =
                switch application.strength {
                case .weak: "weak"
                case .rootsFile: "root"
                case .guarded: "guarded"
                }
            guarding =
                switch application.strength {
                case .weak: "weak"
                case .rootsFile: "root's file"
                case .guarded where application.identity.hasPrefix("unit:"):
                    "guarded by the kernel where a service's user runs it"
                case .guarded: "guarded by the kernel"
                }
            listedBy = application.listedBy
            listedAt = Date(timeIntervalSinceReferenceDate: application.listedAt)
                .formatted(.iso8601)
        }
    }

    let item: ItemRecord
    /// nil where the item has no list: no other program may ask for it, and none but its own group
    /// has it.
    let trusted: [Application]?

    init(_ item: Item) {
        self.item = ItemRecord(item)
        trusted = item.trusted.map { $0.applications.map(Application.init) }
    }

    /// Some lines, with a line end.
    var text: String {
        let group = item.group ?? "no group"
        guard let trusted else {
            return "belongs to \(PlainText.line(group)), lets in no other program\n"
        }
        var lines = ["belongs to \(group), asks about other programs"]
        if !trusted.isEmpty { lines[0] = "belongs to \(group), asks about programs other than" }
        for application in trusted {
            let whose = application.listedBy.map { "by \($0)" } ?? "by its user's answer"
            lines.append(
                "  \(application.program) (\(application.listedAt), \(whose), \(application.guarding))"
            )
        }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }
}

struct AccessRecords: Encodable {
    let items: [AccessRecord]
}
