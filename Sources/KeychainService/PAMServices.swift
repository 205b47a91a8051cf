// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import Synchronization

/// The PAM services of ours that this machine has: `keychain-NAME`, in the folders that libpam reads.
/// One that is not there is answered by PAM's `other`, and proves nothing.
final class PAMServices: Sendable {
    private static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]
    private static let prefix = "keychain-"
    /// An administrator who adds a service waits this long for it.
    private static let validFor: Duration = .seconds(2)

    private struct Known {
        var methods: Set<PolicyMethod> = []
        var until: ContinuousClock.Instant?
    }
    private let known = Mutex(Known())

    /// What can be proven by them.
    func methods() -> Set<PolicyMethod> {
        let now = ContinuousClock.now
        return known.withLock { known in
            if let until = known.until, now < until { return known.methods }
            known.methods = Self.look()
            known.until = now + Self.validFor
            return known.methods
        }
    }

    private static func look() -> Set<PolicyMethod> {
        let names = folders.flatMap { folder in
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        let ours = Set(names.filter { $0.hasPrefix(prefix) })
        let factors = PolicyMethod.factors.filter { $0.service.map(ours.contains) ?? false }
        return Set(factors + ours.map { .pam(PolicyText($0)) })
    }
}
