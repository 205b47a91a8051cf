// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// An item's trusted applications as bytes, sealed with its attributes.
///
/// count ‖ (identity ‖ strength ‖ when ‖ by whom, empty for the user)…
extension TrustList {
    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard applications.count <= Self.mostApplications else { throw .tooLarge }
        // Safe: at most as many as were checked.
        var bytes = [UInt8(applications.count)]
        for application in applications {
            let texts = [application.identity, application.listedBy ?? ""]
            guard texts.allSatisfy({ $0.utf8.count <= TrustedApplication.longestIdentity }),
                !application.identity.isEmpty
            else { throw .tooLarge }
            bytes.append(block: texts[0].utf8)
            bytes.append(application.strength.rawValue)
            bytes += application.listedAt.bitPattern.littleEndianBytes
            bytes.append(block: texts[1].utf8)
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let count = Int(try reader.byte())
        guard count <= Self.mostApplications else { throw MalformedBytes() }
        var applications: [TrustedApplication] = []
        for _ in 0..<count { applications.append(try Self.application(&reader)) }
        self.init(applications)
        // One list has one encoding.
        guard reader.isAtEnd, self.applications == applications else { throw MalformedBytes() }
    }

    private static func application(
        _ reader: inout ByteReader
    ) throws(MalformedBytes) -> TrustedApplication {
        let identity = try reader.text()
        guard !identity.isEmpty, let strength = ProgramStrength(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        let listedAt = Double(bitPattern: try reader.number(UInt64.self))
        let listedBy = try reader.text()
        guard listedAt.isFinite,
            max(identity.utf8.count, listedBy.utf8.count) <= TrustedApplication.longestIdentity
        else { throw MalformedBytes() }
        return TrustedApplication(
            identity, strength: strength, listedBy: listedBy.isEmpty ? nil : listedBy,
            listedAt: listedAt)
    }
}
