// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainWorlds
import Security
import Testing

/// What a certificate says, as its functions tell it.
@Suite struct Certificates {
    private static let root = Fixture.certificate(Fixture.root)
    private static let leaf = Fixture.certificate(Fixture.leaf)

    @Test(
        arguments: [
            (Fixture.root, "Example Root", "Example Root"),
            (Fixture.leaf, "Zoë Example", "Zoë Example"), (Fixture.expired, "Archive", nil),
        ] as [(Data, String, String?)])
    func `has a summary and a common name`(
        _ der: Data, _ summary: String, _ commonName: String?
    ) throws {
        let certificate = try #require(Fixture.certificate(der))
        #expect(SecCertificateCopyData(certificate) as Data == der)
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == summary)
        var name: CFString?
        let status = SecCertificateCopyCommonName(certificate, &name)
        #expect(status == (commonName == nil ? errSecInternal : errSecSuccess))
        #expect(name as String? == commonName)
    }

    @Test func `has e-mail addresses or none`() throws {
        var addresses: CFArray?
        let leaf = try #require(Self.leaf)
        #expect(SecCertificateCopyEmailAddresses(leaf, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == ["zoe@example.org"])
        let root = try #require(Self.root)
        #expect(SecCertificateCopyEmailAddresses(root, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == [])
    }

    @Test func `has a serial number as it is encoded`() throws {
        let intermediate = try #require(Fixture.certificate(Fixture.intermediate))
        let serial = SecCertificateCopySerialNumberData(intermediate, nil)
        #expect(serial as Data? == Data([0, 0x80]))
    }

    @Test func `has names in the form in which they are compared`() throws {
        // Texts in capital letters, with single blanks, as printable strings.
        func part(_ attribute: UInt8, _ text: String) -> [UInt8] {
            let value = [0x13, UInt8(text.utf8.count)] + Array(text.utf8)
            let pair = [0x06, 3, 0x55, 0x04, attribute] + value
            let sequence = [0x30, UInt8(pair.count)] + pair
            return [0x31, UInt8(sequence.count)] + sequence
        }
        let content = part(10, "EXAMPLE WORKS") + part(3, "EXAMPLE ROOT")
        let expected = Data([0x30, UInt8(content.count)] + content)
        let root = try #require(Self.root)
        let intermediate = try #require(Fixture.certificate(Fixture.intermediate))
        #expect(SecCertificateCopyNormalizedSubjectSequence(root) as Data? == expected)
        #expect(SecCertificateCopyNormalizedIssuerSequence(root) as Data? == expected)
        #expect(SecCertificateCopyNormalizedIssuerSequence(intermediate) as Data? == expected)
    }

    @Test(
        arguments: [
            (Fixture.leaf, 256, "73"), (Fixture.intermediate, 384, "73"),
            (Fixture.expired, 2048, "42"), (Fixture.ed25519, 256, "105"),
        ])
    func `has a public key`(_ der: Data, _ bits: Int, _ type: String) throws {
        let certificate = try #require(Fixture.certificate(der))
        let key = try #require(SecCertificateCopyKey(certificate))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes["bsiz"] as? Int == bits)
        #expect(attributes["type"] as? String == type)
        #expect(attributes["kcls"] as? String == "0")
    }

    @Test func `is nothing but whole`() {
        let der = Fixture.leaf
        #expect(Fixture.certificate(Data()) == nil)
        #expect(Fixture.certificate(der + Data([0])) == nil)
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(Fixture.certificate(der.prefix(count)) == nil)
        }
    }

    @Test func `is read without a trap, whatever is damaged in it`() {
        var generator = SeededGenerator(seed: 1)
        for der in [Fixture.leaf, Fixture.expired, Fixture.ed25519] {
            for _ in 0..<3000 {
                var damaged = der
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: 0..<der.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
                guard let certificate = Fixture.certificate(damaged) else { continue }
                #expect(SecCertificateCopyData(certificate) as Data == damaged)
                _ = SecCertificateCopySubjectSummary(certificate)
                _ = SecCertificateCopyNormalizedIssuerSequence(certificate)
                _ = SecCertificateCopyNormalizedSubjectSequence(certificate)
                _ = SecCertificateCopyKey(certificate)
            }
        }
    }

    @Test func `is the same as another of the same bytes`() throws {
        let again = try #require(Fixture.certificate(Fixture.leaf))
        #expect(Self.leaf == again && Self.leaf != Self.root)
        #expect(CFGetTypeID(again) == SecCertificateGetTypeID())
    }
}
