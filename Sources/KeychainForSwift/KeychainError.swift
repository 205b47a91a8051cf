// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// Why a call failed: Apple's status, and Apple's sentence for it.
///
/// It is a class, since Foundation on Linux can't make an `NSError` from a Swift error that is
/// caught as one.
public final class KeychainError: NSError, @unchecked Sendable {
    /// One of `errSec…`.
    public var status: OSStatus { OSStatus(truncatingIfNeeded: code) }
    public var message: String { localizedDescription }

    public init(status: OSStatus) {
        let message = SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)"
        super.init(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: message])
    }

    convenience init(_ error: RequestError) {
        // No call names a keychain: where the default one is missing, there is no store.
        let isMissing = error == .state(.noSuchKeychain)
        self.init(status: isMissing ? errSecNotAvailable : error.statusOfItemCall)
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    public override var description: String { "\(message) (\(status))" }
}
