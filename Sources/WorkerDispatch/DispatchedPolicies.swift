// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainPolicyEngine
package import KeychainRequestAudit
package import PolicyLoading
internal import Synchronization

/// The policies in force, for all workers.
package final class DispatchedPolicies: PolicyTaker {
    private let workers: Workers
    private let announcement: PolicyAnnouncement
    private let revision = Mutex<PolicyRevision?>(nil)

    package init(_ workers: Workers, _ announcement: PolicyAnnouncement) {
        self.workers = workers
        self.announcement = announcement
    }

    package func use(_ bundle: PolicyBundle, _ revision: PolicyRevision) {
        self.revision.withLock { $0 = revision }
        workers.use(bundle, number: revision.number)
    }

    package func tell(_ report: PolicyReport) {
        workers.tell(report)
        announcement.announce(report, revision.withLock { $0 })
    }
}
