// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates

/// What a certificate must be good for, for `kSecMatchPolicy`.
public final class SecPolicy: NSObject, @unchecked Sendable {
    enum Purpose: Hashable, Sendable {
        /// Issued, in the end, by an issuer that this machine trusts.
        case basic
        /// That of a server, of the name if there is one, or of a client.
        case ssl(isServer: Bool, host: String?)
    }

    let purpose: Purpose

    init(_ purpose: Purpose) { self.purpose = purpose }

    public override var hash: Int { purpose.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? SecPolicy)?.purpose == purpose
    }
}

/// Certificates that lead to one that this machine trusts.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Certificates by which servers, or clients, show who they are. `hostname` is the server's name;
/// addresses in numbers match no certificate here.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.ssl(isServer: server, host: hostname as String?))
}

extension CertificateContent {
    /// Whether the certificate by itself is one for connections. Only a basic policy looks at its
    /// issuer (docs/secitem.md, Matching rules).
    func isForSSL(isServer: Bool, host: String?, on date: Date) -> Bool {
        guard isValid(on: date), !extensions.hasUnknownCritical,
            extensions.allowsPurpose(isServer ? .serverAuthentication : .clientAuthentication)
        else { return false }
        return host.map(isFor) ?? true
    }
}
