// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The purpose that a certificate is checked for.
package enum CertificatePurpose: UInt8, Sendable {
    case basic = 0
    case sslServer = 1
    case sslClient = 2
    case codeSigning = 3
    case emailProtection = 4
    case ipsec = 5
    case eap = 6
}

/// The question of `security` to `security-certificates` about certificates: their facts, and
/// whether they are valid for a purpose.
package struct CertificateQuestion: Sendable, Equatable {
    package var certificates: [[UInt8]]
    /// Certificates that may stand between them and a trusted issuer.
    package var issuers: [[UInt8]] = []
    /// Trusted issuers instead of this machine's; empty: this machine's.
    package var anchors: [[UInt8]] = []
    package var purpose = CertificatePurpose.basic
    /// The host that a server's certificate must be for.
    package var host: String?

    package init(_ certificates: [[UInt8]]) { self.certificates = certificates }

    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 4096)
        for list in [certificates, issuers, anchors] { writer.append(blocks: list) }
        writer.append(purpose.rawValue)
        writer.append(text: host ?? "")
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        certificates = try reader.blocks()
        issuers = try reader.blocks()
        anchors = try reader.blocks()
        guard let purpose = CertificatePurpose(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        self.purpose = purpose
        let host = try reader.text()
        self.host = host.isEmpty ? nil : host
        guard reader.isAtEnd else { throw MalformedBytes() }
    }
}

/// The facts about a certificate, in the order of the question.
package struct CertificateFacts: Sendable, Equatable {
    package enum Verdict: UInt8, Sendable {
        case valid = 0
        case unreadable = 1
        case expired = 2
        case notYetValid = 3
        case notTrusted = 4
        case wrongPurpose = 5
        case wrongHost = 6
    }

    package var verdict: Verdict
    package var commonName: String?
    package var emailAddresses: [String] = []
    package var sha1: [UInt8] = []
    package var publicKeyHash: [UInt8] = []
    /// The attributes of its item.
    package var attributes: Attributes = [:]

    package init(_ verdict: Verdict) { self.verdict = verdict }

    package static func bytes(of list: [CertificateFacts]) -> [UInt8] {
        var writer = ByteWriter(capacity: 4096)
        writer.append(count: list.count)
        for facts in list {
            writer.append(facts.verdict.rawValue)
            writer.append(facts.commonName == nil ? 0 : 1)
            if let name = facts.commonName { writer.append(text: name) }
            writer.append(count: facts.emailAddresses.count)
            for address in facts.emailAddresses { writer.append(text: address) }
            writer.append(block: facts.sha1)
            writer.append(block: facts.publicKeyHash)
            writer.append(facts.attributes)
        }
        return writer.bytes
    }

    package static func list(_ bytes: [UInt8]) throws(MalformedBytes) -> [CertificateFacts] {
        var reader = ByteReader(bytes)
        var list: [CertificateFacts] = []
        for _ in 0..<(try reader.count(ofAtLeast: 18)) {
            guard let verdict = Verdict(rawValue: try reader.byte()) else { throw MalformedBytes() }
            var facts = CertificateFacts(verdict)
            if try reader.byte() == 1 { facts.commonName = try reader.text() }
            for _ in 0..<(try reader.count(ofAtLeast: 4)) {
                facts.emailAddresses.append(try reader.text())
            }
            facts.sha1 = Array(try reader.block())
            facts.publicKeyHash = Array(try reader.block())
            facts.attributes = try reader.attributes()
            list.append(facts)
        }
        guard reader.isAtEnd else { throw MalformedBytes() }
        return list
    }
}

extension ByteWriter {
    fileprivate mutating func append(blocks: [[UInt8]]) {
        append(count: blocks.count)
        for block in blocks { append(block: block) }
    }

    mutating func append(_ attributes: Attributes) {
        append(count: attributes.count)
        for (name, value) in attributes {
            append(name: name)
            switch value {
            case .string(let text):
                append(1)
                append(text: text)
            case .data(let bytes):
                append(2)
                append(block: bytes)
            case .number(let number):
                append(3)
                append(number: UInt64(bitPattern: number))
            case .date(let seconds), .real(let seconds):
                append(4)
                append(number: seconds.bitPattern)
            }
        }
    }
}

extension ByteReader {
    fileprivate mutating func blocks() throws(MalformedBytes) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        for _ in 0..<(try count(ofAtLeast: 4)) { blocks.append(Array(try block())) }
        return blocks
    }

    mutating func attributes() throws(MalformedBytes) -> Attributes {
        var attributes: Attributes = [:]
        let count = try count(ofAtLeast: 9)
        guard count <= Attributes.most else { throw MalformedBytes() }
        for _ in 0..<count {
            let name = try name()
            switch try byte() {
            case 1: attributes[name] = .string(try text())
            case 2: attributes[name] = .data(Array(try block()))
            case 3: attributes[name] = .number(Int64(bitPattern: try number(UInt64.self)))
            case 4: attributes[name] = .date(Double(bitPattern: try number(UInt64.self)))
            default: throw MalformedBytes()
            }
        }
        return attributes
    }
}
