// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainRequestAudit
internal import KeychainModel
internal import LoginManager

/// Reports each load of policies, and its result, in the audit log and on the system bus.
package struct PolicyAnnouncement: Sendable {
    private static let path = "/keychaind"
    private static let interface = "keychaind.Policies"

    private let audit: AuditLog
    private let tell: @Sendable (_ signal: String, _ text: String) -> Void

    /// `tell` returns at once.
    package init(
        _ audit: AuditLog,
        tell: @escaping @Sendable (_ signal: String, _ text: String) -> Void =
            BusSignals(path: path, interface: interface).tell
    ) {
        self.audit = audit
        self.tell = tell
    }

    /// `revision` is that of the policies in force.
    package func announce(_ report: PolicyReport, _ revision: PolicyRevision?) {
        // An administrator who made the daemon read no policies needs no report.
        guard !report.text.isEmpty else { return }
        let subject = AuditLog.Subject(user: 0, process: nil, program: "keychaind", session: nil)
        audit.record(
            report.load, under: revision, by: subject,
            report.isDegraded ? .failed(.damagedPolicy) : nil)
        tell(report.isDegraded ? "Degraded" : "InForce", report.text)
    }
}
