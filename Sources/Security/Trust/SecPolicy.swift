// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates

/// The purpose that a certificate must be valid for, in `kSecMatchPolicy`.
public final class SecPolicy: NSObject, @unchecked Sendable {
    enum Purpose: Hashable, Sendable {
        /// Issued, directly or indirectly, by an issuer that this machine trusts.
        case basic
        /// For a server, of the given name if there is one, or for a client.
        case ssl(isServer: Bool, host: String?)
    }

    let purpose: Purpose

    init(_ purpose: Purpose) { self.purpose = purpose }

    public override var hash: Int { purpose.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? SecPolicy)?.purpose == purpose
    }
}

/// A policy for certificates whose chain leads to an issuer that this machine trusts.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// A policy for certificates by which servers, or clients, identify themselves. `hostname` is the
/// server's name; numeric addresses match no certificate here.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.ssl(isServer: server, host: hostname as String?))
}

extension CertificateContent {
    /// Whether the certificate itself is valid for connections. Only a basic policy checks its
    /// issuer (docs/secitem.md, Matching rules).
    func isForSSL(isServer: Bool, host: String?, on date: Date) -> Bool {
        guard isValid(on: date), !extensions.hasUnknownCritical,
            extensions.allowsPurpose(isServer ? .serverAuthentication : .clientAuthentication)
        else { return false }
        return host.map(isFor) ?? true
    }
}
