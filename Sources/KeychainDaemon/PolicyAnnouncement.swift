// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainRequestAudit
internal import KeychainModel
internal import LoginManager

/// Reports each load of policies, and its result, in the audit log and on the system bus.
enum PolicyAnnouncement {
    private static let path = "/keychaind"
    private static let interface = "keychaind.Policies"

    /// `tell` returns at once.
    static func begin(
        _ policy: ActivePolicy, _ audit: AuditLog,
        tell: @escaping @Sendable (_ signal: String, _ text: String) -> Void =
            BusSignals(path: path, interface: interface).tell
    ) {
        let subject = AuditLog.Subject(user: 0, process: nil, program: "keychaind", session: nil)
        policy.onReport { report in
            // An administrator who made the daemon read no policies needs no report.
            guard !report.text.isEmpty else { return }
            audit.record(
                report.load, under: policy.now.judge.revision, by: subject,
                report.isDegraded ? .failed(.damagedPolicy) : nil)
            tell(report.isDegraded ? "Degraded" : "InForce", report.text)
        }
    }
}
