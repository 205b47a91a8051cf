// SPDX-License-Identifier: Apache-2.0
import Foundation
import Keychain
import NIOSSL
import Secrets
import Security
import Terminal
import X509

let selfSigned = """
    MIIBhzCCAS2gAwIBAgIULp0cTYAgzCur6t9mJ79XwYv3HzwwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNZ3Vlc3Qu \
    ZXhhbXBsZTAgFw0yNjExMjIwMzU3MzVaGA8yMTI2MTAyOTAzNTczNVowGDEWMBQGA1UEAwwNZ3Vlc3QuZXhhbXBs \
    ZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKtqU8eQML2PwY3Zn7FkcOgjZ+dmqzphM9P3e4pruN5PYWLcc3R+ \
    Ium9VqBqdmSb56ydP3aCgdQWoPHTtgUE87KjUzBRMB0GA1UdDgQWBBQxIZsGTkv39j2XA/gAROqyJ4aM0DAfBgNV \
    HSMEGDAWgBQxIZsGTkv39j2XA/gAROqyJ4aM0DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCz \
    OGtDn77FaP+/Ue12PQK/dbC10Vsy8unhet4Pu89o3gIgCxIhT4dsAXvP5Qix5tdxFMyuyVEgQOKw0uPuqqL4Fxc=
    """
let secret = Secret("tr0ub4dor")
guard Keychain.store(secret, for: "me") == errSecSuccess,
    Keychain.secret(for: "me") == secret
else { fatalError("the keychain does not keep what it is given") }

// A certificate of one library is one of the others: swift-certificates has this initialiser only
// where it found a module called Security.
guard let der = Data(base64Encoded: selfSigned, options: .ignoreUnknownCharacters),
    let certificate = SecCertificateCreateWithData(nil, der as CFData)
else { fatalError("no certificate") }
let parsed = try X509.Certificate(certificate)
let ours = SecCertificateCopySubjectSummary(certificate) as String? ?? ""
let theirs = try NIOSSLCertificate(bytes: [UInt8](der), format: .der)
guard try theirs.toDERBytes() == [UInt8](der), parsed.subject.description.contains(ours) else {
    fatalError("the certificate is another")
}
Terminal.write("guest: \(ours)")
