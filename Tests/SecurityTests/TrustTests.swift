// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainCertificates
import KeychainModel
import Testing

@testable import Security

private func content(_ der: Data) -> CertificateContent { CertificateContent(Array(der))! }

/// Whether a certificate leads to an authority that is trusted.
@Suite struct Trust {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func isTrusted(
        _ der: Data, stored: [Data] = [], anchors: [Data] = [Fixture.anchor], on date: Date? = nil
    ) -> Bool {
        let chain = CertificateChain(
            anchors: TrustedAnchors(list: anchors.map(Fixture.pem).joined(separator: "words\n")),
            date: date ?? now
        ) { name throws(RequestError) in
            stored.map(content).filter { $0.subject.normalizedContent == name }
        }
        do { return try chain.isTrusted(content(der)) } catch { return false }
    }

    @Test func `an anchor is trusted, and what leads to it`() {
        #expect(isTrusted(Fixture.anchor))
        #expect(isTrusted(Fixture.issuer))
        #expect(isTrusted(Fixture.server, stored: [Fixture.issuer]))
        #expect(isTrusted(Fixture.server, anchors: [Fixture.anchor, Fixture.issuer]))
        #expect(isTrusted(Fixture.server, anchors: [Fixture.server]))
        // An anchor need not say that it is one.
        #expect(isTrusted(Fixture.ed25519, anchors: [Fixture.root]))
    }

    @Test func `nothing else is`() {
        #expect(!isTrusted(Fixture.server), "its issuer is not known")
        #expect(!isTrusted(Fixture.server, stored: [Fixture.issuer], anchors: []))
        #expect(!isTrusted(Fixture.anchor, stored: [Fixture.anchor], anchors: [Fixture.root]))
        #expect(
            !isTrusted(Fixture.forgery, stored: [Fixture.server, Fixture.issuer]),
            "a server is no authority")
        #expect(
            !isTrusted(Fixture.leaf, stored: [Fixture.intermediate], anchors: [Fixture.root]),
            "it does not say that it is an authority")
        #expect(!isTrusted(Fixture.expired, anchors: [Fixture.root]))
        #expect(!isTrusted(Fixture.server, stored: [Fixture.issuer], on: .distantFuture))
        #expect(!isTrusted(Fixture.server, stored: [Fixture.issuer], on: .distantPast))
    }

    @Test func `a certificate that was changed is not trusted`() throws {
        let length = Fixture.server.count
        // In the signature, and in a name.
        for position in [length - 1, length - 40, length / 3] {
            var changed = Fixture.server
            changed[position] ^= 1
            guard CertificateContent(Array(changed)) != nil else { continue }
            #expect(!isTrusted(changed, stored: [Fixture.issuer]), "byte \(position)")
        }
    }

    @Test(
        arguments: [
            ("www.example.org", true), ("WWW.example.ORG.", true), ("example.org", false),
            ("a.shop.example.org", true), ("shop.example.org", false),
            ("a.b.shop.example.org", false), (".shop.example.org", false), ("", false),
            ("www.example.org.evil", false), ("*.shop.example.org", true),
        ])
    func `a server's certificate is for its names`(_ host: String, _ isFor: Bool) {
        let server = content(Fixture.server)
        #expect(server.isForSSL(isServer: true, host: host, on: now) == isFor)
        #expect(!server.isForSSL(isServer: false, host: host, on: now))
        #expect(!server.isForSSL(isServer: true, host: host, on: .distantFuture))
    }

    /// As an administrator's list has it; this machine's own list is what programs get.
    @Test func `the machine's anchors are found where they are looked for`() throws {
        let list = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        let first = try #require(list.components(separatedBy: "-----").first { $0.count > 100 })
        let der = try #require(
            Data(base64Encoded: first, options: .ignoreUnknownCharacters))
        #expect(TrustedAnchors.ofMachine.contains(content(der)))
        #expect(!TrustedAnchors.ofMachine.contains(content(Fixture.anchor)))
    }
}

extension CertificateItems {
    @Suite(.serialized) struct TrustMatching {
        private let valid = Date(timeIntervalSince1970: 1_800_000_000)

        init() throws {
            _ = delete(["class": "cert", "sync": "syna", "agrp": "first.group"])
            for der in [Fixture.anchor, Fixture.issuer, Fixture.server] {
                #expect(add(["v_Ref": Fixture.certificate(der)!]) == errSecSuccess)
            }
        }

        private func labels(_ words: [String: Any]) -> [String] {
            let query: [String: Any] = [
                "class": "cert", "agrp": "first.group", "r_Attributes": true,
                "m_Limit": "m_LimitAll", "m_ValidOnDate": valid,
            ]
            let found = copyMatching(query.with(words)).result as? [[String: Any]] ?? []
            return found.compactMap { $0["labl"] as? String }.sorted()
        }

        @Test func `what lies in a keychain is not trusted for that`() {
            #expect(labels([:]).count == 3)
            #expect(labels(["m_TrustedOnly": true]) == [])
            #expect(labels(["m_TrustedOnly": false]).count == 3)
            #expect(labels(["m_Policy": SecPolicyCreateBasicX509()]) == [])
        }

        @Test func `an anchor of the machine is`() throws {
            let list = try String(
                contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
            // One that will be valid for a while.
            let all = list.components(separatedBy: "-----").compactMap {
                Data(base64Encoded: $0, options: .ignoreUnknownCharacters)
            }
            let der = try #require(
                all.first { CertificateContent(Array($0))?.isValid(on: valid) ?? false })
            let certificate = try #require(Fixture.certificate(der))
            #expect(add(["v_Ref": certificate, "labl": "machine's"]) == errSecSuccess)
            #expect(labels(["m_TrustedOnly": true]) == ["machine's"])
            #expect(labels(["m_Policy": SecPolicyCreateBasicX509()]) == ["machine's"])
        }

        @Test func `a policy for servers looks at the certificate alone`() {
            let server = SecPolicyCreateSSL(true, "www.example.org" as CFString)
            #expect(labels(["m_Policy": server]) == ["Example Server"])
            let other = SecPolicyCreateSSL(true, "other.example.org" as CFString)
            #expect(labels(["m_Policy": other]) == [])
            // A certificate that names no purpose serves all.
            #expect(
                labels(["m_Policy": SecPolicyCreateSSL(false, nil)])
                    == ["Example Anchor", "Example Issuer"])
            #expect(CFGetTypeID(server) == SecPolicyGetTypeID())
            #expect(server == SecPolicyCreateSSL(true, "www.example.org" as CFString))
            #expect(server != other)
        }
    }
}
