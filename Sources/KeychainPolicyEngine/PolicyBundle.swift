// SPDX-License-Identifier: Apache-2.0

/// The compiler's output for the daemon: a policy, the part of it that lets others know of items, a
/// summary for people, and the files that it was made of; or the reason, in words, why there is
/// none.
///
/// `KCPP2`, a newline, and blocks of four bytes of length (little-endian) and so many bytes: the
/// first three parts, and two blocks for each file, the first with its level as a digit and its
/// name, the second with its content.
public struct PolicyBundle: Sendable {
    /// Files with more bytes than this together are left out.
    public static let mostSourceBytes = 16 << 20
    public static let mostBytes =
        2 * CompiledPolicy.mostSnapshotBytes + mostSourceBytes + 2 << 20
    private static let magic = Array("KCPP2\n".utf8)
    private static let mostSources = 3 * 4_096

    /// A file of policies, of one of the folders.
    public struct Source: Sendable, Equatable {
        /// Which folder: 0 is the vendor's.
        public let level: Int
        public let name: String
        public let bytes: [UInt8]

        public init(level: Int, name: String, bytes: [UInt8]) {
            self.level = level
            self.name = name
            self.bytes = bytes
        }
    }

    public let policy: CompiledPolicy
    public let reach: CompiledPolicy
    /// The files that it was made of, one line each.
    public let summary: String
    /// Empty where the files are unknown, or too large.
    public private(set) var sources: [Source]

    /// Leaves out sources that are too large.
    package init(
        _ policy: CompiledPolicy, reach: CompiledPolicy, summary: String, sources: [Source] = []
    ) {
        self.policy = policy
        self.reach = reach
        self.summary = summary
        let size = sources.reduce(0) { $0 + $1.bytes.count + $1.name.utf8.count }
        self.sources = size <= Self.mostSourceBytes ? sources : []
    }

    public var withoutSources: PolicyBundle {
        var copy = self
        copy.sources = []
        return copy
    }

    public var bytes: [UInt8] {
        var bytes = Self.magic
        let files = sources.flatMap { [Array("\($0.level)\($0.name)".utf8), $0.bytes] }
        for block in [policy.snapshot, reach.snapshot, Array(summary.utf8)] + files {
            for shift in [0, 8, 16, 24] {
                bytes.append(UInt8(truncatingIfNeeded: block.count >> shift))
            }
            bytes += block
        }
        return bytes
    }

    /// Throws for bytes that are cut off, altered or of another version.
    public init(bytes: [UInt8]) throws(PolicySnapshotError) {
        guard bytes.count <= Self.mostBytes else { throw .tooLong(limit: Self.mostBytes) }
        guard bytes.starts(with: Self.magic) else { throw .notASnapshot }
        // Safe: the bytes begin with the magic.
        var rest = bytes[Self.magic.count...]
        policy = try CompiledPolicy(snapshot: Array(try Self.block(&rest)))
        reach = try CompiledPolicy(snapshot: Array(try Self.block(&rest)))
        summary = try Self.text(try Self.block(&rest))
        sources = []
        while !rest.isEmpty {
            let place = try Self.block(&rest)
            guard let level = place.first.map({ Int(clamping: $0) - 0x30 }),
                (0..<10).contains(level),
                sources.count < Self.mostSources
            else { throw .wrongLength }
            sources.append(
                Source(
                    level: level, name: try Self.text(place.dropFirst()),
                    bytes: Array(try Self.block(&rest))))
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(PolicySnapshotError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed("text") }
        return text
    }

    private static func block(
        _ rest: inout ArraySlice<UInt8>
    ) throws(PolicySnapshotError) -> ArraySlice<UInt8> {
        guard rest.count >= 4 else { throw .wrongLength }
        let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int(clamping: $1) }
        rest = rest.dropFirst(4)
        guard length <= rest.count else { throw .wrongLength }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
