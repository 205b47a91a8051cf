// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators

import KeychainPolicyCompiler
import KeychainPolicyModel
@testable import KeychainPolicyEngine

/// A compiled policy behind a header that is right, so that checks of its parts are reached; or
/// what the compiler hands on, where it begins as that does.
enum PolicyImages {
    private static let requests = {
        var world = PolicyWorld(seed: 7, fields: [.exe, .service])
        let policy = world.policy(rules: 60)
        return (0..<8).map { number in
            var request = world.request(for: policy)
            // Held for good in an enum's tagged pointer, a tree would look like a leak.
            request.facts.constraint = number % 2 == 0 ? .none : .needs(.factor(.passcode))
            request.before?.constraint = .none
            return request
        }
    }()

    static func read(_ bytes: [UInt8]) throws -> Bool {
        if bytes.starts(with: Array("KCPP".utf8)) { return try readBundle(bytes) }
        let image = forged(bytes)
        guard let policy = try? CompiledPolicy(snapshot: image) else { return false }
        try require(policy.snapshot == image, "an image is written as another one")
        for request in requests { decide(request, policy) }
        for statement in 0..<policy.statementCount { _ = policy.provenance(of: statement) }
        _ = policy.reach(requests[0].facts, for: requests[0].operation)
        return true
    }

    /// Neither order, limit, reason nor name may lead out of the image.
    private static func decide(_ request: PolicyRequest, _ policy: CompiledPolicy) {
        let admitted = policy.admit(request)
        let ruling = policy.decide(admitted)
        _ = policy.attributes(ruling.redactions)
        _ = policy.limits(on: admitted)
        _ = policy.decision(on: request)
        _ = policy.statements(matching: request)
    }

    private static func readBundle(_ bytes: [UInt8]) throws -> Bool {
        guard let bundle = try? PolicyBundle(bytes: bytes) else { return false }
        try require(bundle.bytes == bytes, "a bundle is written as another one")
        return true
    }

    /// With magic, version, length and checksum as they must be, and sections one behind the other.
    private static func forged(_ bytes: [UInt8]) -> [UInt8] {
        var words = (0..<bytes.count / 4).map { word in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * word + $1]) << UInt32(8 * $1) }
        }
        guard words.count >= PolicyImage.directoryLength else { return bytes }
        words.replaceSubrange(0..<4, with: PolicyImage.magic + [PolicyImage.version, 0])
        words[3] = UInt32(clamping: words.count)
        var place = UInt32(PolicyImage.directoryLength)
        for section in PolicyImage.Section.allCases {
            let entry = PolicyImage.headerLength + 2 * section.rawValue
            words[entry] = place
            place = place.addingReportingOverflow(words[entry + 1]).partialValue
        }
        let sum = PolicyImage.checksum(words)
        words[4] = UInt32(truncatingIfNeeded: sum)
        words[5] = UInt32(truncatingIfNeeded: sum >> 32)
        return CompiledPolicy.bytes(of: words)
    }
}
