// SPDX-License-Identifier: Apache-2.0

/// What the compiler hands to the daemon: a policy, what it lets others know of, and a summary for
/// people; or, in words, why there is none.
///
/// `KCPP1`, a newline, and three blocks of four bytes of length (little-endian) and so many bytes.
public struct PolicyParcel: Sendable {
    public static let mostBytes = 2 * CompiledPolicy.mostSnapshotBytes + 1 << 20
    private static let magic = Array("KCPP1\n".utf8)

    public let policy: CompiledPolicy
    public let reach: CompiledPolicy
    /// Which files it was made of, a line each.
    public let summary: String

    /// Of a set that has been checked.
    public init(_ set: PolicySet, summary: String) throws(PolicyCompilationError) {
        policy = try CompiledPolicy(set)
        reach = try CompiledPolicy(set.reachOnly)
        self.summary = summary
    }

    public var bytes: [UInt8] {
        var bytes = Self.magic
        for block in [policy.snapshot, reach.snapshot, Array(summary.utf8)] {
            for shift in [0, 8, 16, 24] {
                bytes.append(UInt8(truncatingIfNeeded: block.count >> shift))
            }
            bytes += block
        }
        return bytes
    }

    /// Refuses what is cut off, altered or of another version.
    public init(bytes: [UInt8]) throws(PolicySnapshotError) {
        guard bytes.count <= Self.mostBytes else { throw .tooLong(limit: Self.mostBytes) }
        guard bytes.starts(with: Self.magic) else { throw .notASnapshot }
        var rest = bytes[Self.magic.count...]
        policy = try CompiledPolicy(snapshot: Array(try Self.block(&rest)))
        reach = try CompiledPolicy(snapshot: Array(try Self.block(&rest)))
        summary = String(decoding: try Self.block(&rest), as: UTF8.self)
        guard rest.isEmpty else { throw .wrongLength }
    }

    private static func block(
        _ rest: inout ArraySlice<UInt8>
    ) throws(PolicySnapshotError) -> ArraySlice<UInt8> {
        guard rest.count >= 4 else { throw .wrongLength }
        let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard length <= rest.count else { throw .wrongLength }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}

extension PolicySet {
    /// What counts where there are policies, none of them can be used, and none ever was: keys stay,
    /// rights stay, and a secret takes the password (spec: policy, Errors).
    public static let whenBroken: PolicySet = {
        let origin = PolicyOrigin(file: "built in", line: 1, column: 1, level: 0)
        func rule(_ id: PolicyText, _ effect: PolicyEffect, _ operations: PolicyOperations)
            -> PolicyRule
        {
            PolicyRule(
                id: id, origin: origin, effect: effect,
                match: PolicyMatch(PolicyBox(operations: operations)))
        }
        return PolicySet(rules: [
            rule(
                "built-in.no-export", .forbid("The machine's policies cannot be used."),
                [PolicyOperations(.export), PolicyOperations(.changeACL)]),
            rule(
                "built-in.password", .require(PolicyDemand(.factor(.passcode))),
                PolicyOperations(.readSecret)),
        ])
    }()
}
