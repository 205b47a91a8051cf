// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
package import KeychainPolicyEngine

/// What is told of the policies that are in force.
package struct PolicyReport: Sendable, Equatable {
    /// Whether the policies in force differ from the files.
    package var isDegraded = false
    /// A text for people, which every user may read.
    package var text = ""
    /// The load that was read; nil where the policies in force stay.
    package var load: PolicyLoad?

    package init(isDegraded: Bool = false, text: String = "", load: PolicyLoad? = nil) {
        self.isDegraded = isDegraded
        self.text = text
        self.load = load
    }
}

/// Takes the policies that are loaded.
package protocol PolicyTaker: AnyObject, Sendable {
    /// They are in force from now on. `tell` follows.
    func use(_ bundle: PolicyBundle, _ revision: PolicyRevision)
    func tell(_ report: PolicyReport)
}
