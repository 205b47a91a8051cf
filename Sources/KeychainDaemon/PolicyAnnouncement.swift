// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainRequestAudit
internal import KeychainModel
internal import LoginManager

/// Says in the audit log and on the system's bus what became of the policies that were read, each
/// time that they are.
enum PolicyAnnouncement {
    private static let path = "/keychaind"
    private static let interface = "keychaind.Policies"

    /// `tell` comes back at once.
    static func begin(
        _ policy: ActivePolicy, _ audit: AuditLog,
        tell: @escaping @Sendable (_ signal: String, _ text: String) -> Void =
            BusSignals(path: path, interface: interface).tell
    ) {
        let subject = AuditLog.Subject(user: 0, process: nil, program: "keychaind", session: nil)
        policy.onReport { report in
            // An administrator who made the daemon read none has nothing to hear.
            guard !report.text.isEmpty else { return }
            audit.record(
                report.load, under: policy.now.judge.revision, by: subject,
                report.isDegraded ? .failed(.damagedPolicy) : nil)
            tell(report.isDegraded ? "Degraded" : "InForce", report.text)
        }
    }
}
