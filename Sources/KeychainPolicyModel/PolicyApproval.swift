// SPDX-License-Identifier: Apache-2.0

// An approval is a proof by a person other than the asker: success of one PAM service for that
// person. To the engine it is a service with the person's name after it; no policy can write such a
// name as a service.

extension PolicyText {
    private static let prefix = PolicyMethod.approvalService + "/"

    fileprivate init(approver: PolicyText) { self.init(Self.prefix + approver.string) }

    /// The person whose approval the service stands for.
    package var approver: PolicyText? {
        string.hasPrefix(Self.prefix)
            ? PolicyText(String(string.dropFirst(Self.prefix.count))) : nil
    }
}

extension PolicyConstraint {
    package static func approval(
        by name: PolicyText, within: PolicyDuration? = nil
    ) -> PolicyConstraint {
        .pam(PolicyText(approver: name), within: within)
    }

    /// The persons whose approvals are mentioned, each once.
    package var approvers: [PolicyText] {
        switch self {
        case .factor: []
        case .pam(let service, _): service.approver.map { [$0] } ?? []
        case .any(let children), .all(let children), .atLeast(_, let children):
            Set(children.flatMap(\.approvers)).sorted()
        }
    }
}

extension PolicyMethod {
    /// The PAM service that authenticates an approving person.
    public static let approvalService = "keychain-approval"

    public static func approval(by name: String) -> PolicyMethod {
        .pam(PolicyText(approver: PolicyText(name)))
    }

    /// The approving person.
    public var approver: String? {
        if case .pam(let service) = self { service.approver?.string } else { nil }
    }

    private static let besides = approvalService + "!"

    /// Stands, in a set of possible proofs, for the approval of each person but the asker with this
    /// name.
    public static func approvals(besides asker: String) -> PolicyMethod {
        .pam(PolicyText(besides + asker))
    }

    /// The asker, whose own approval is excluded.
    package var asker: String? {
        guard case .pam(let service) = self, service.string.hasPrefix(Self.besides) else {
            return nil
        }
        return String(service.string.dropFirst(Self.besides.count))
    }
}
