// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

extension CompiledPolicy {
    /// A policy without rules: items' own access control decides.
    public static let empty = CompiledPolicy(PolicyImage.empty)
}

extension PolicyBundle {
    /// `PolicySet.whenBroken`, for a daemon that has no compiler.
    public static let whenBroken = PolicyBundle(
        CompiledPolicy(PolicyImage.whenBroken), reach: .empty, summary: "built in")
}

extension PolicyImage {
    /// The compiler's output for a set without rules.
    static let empty = PolicyImage(frame.merging([.nodes: nodes, .summary: summary()]) { $1 })

    /// The compiler's output for `PolicySet.whenBroken`. Its three rules name no text and no
    /// number, and are few enough to be entries of the root.
    static let whenBroken = PolicyImage(
        frame.merging([
            .bytes: words(
                """
                built-in.no-exportThe machine's policies cannot be used.\
                built-in.own-groupsbuilt-in.passwordbuilt in
                """),
            .statements: [
                StatementKind.forbid.rawValue, 0, 0, 0,
                StatementKind.forbid.rawValue, 0, 0, 2,
                StatementKind.require.rawValue, 0, 0, 4,
            ],
            .conditions: [0, 0, 0, 0, 0, 0],
            .entries: [
                0, 0x1010_0F00, 0, 0,
                1, 0x1010_1FFF, 0x10, 0,
                0x0120_0002, 0x1010_0001, 0, 0,
            ],
            .nodes: [0, 0, 0, 0, 1] + nodes.dropFirst(Section.nodes.stride),
            .demands: [0, UInt32(Freshness.context.rawValue), 0, 0],
            .trees: [UInt32(PolicyFactor.passcode.index) << 3],
            .files: [92, 8],
            // Id, reason, file, line, column, level.
            .provenance: [
                0, 18, 18, 38, 0, 1, 1, 0, 56, 19, 18, 38, 0, 1, 1, 0, 75, 17, 92, 0, 0, 1, 1, 0,
            ],
            .summary: summary(deciding: 3),
        ]) { $1 })

    /// The sections that are never empty.
    private static let frame: [Section: [UInt32]] = [
        .symbolSlots: [0],
        .lengthPlaces: zeros(
            TextField.allCases.count * SymbolKind.allCases.count * Section.lengthPlaces.stride),
        .breakpointPlaces: zeros(
            NumberDimension.allCases.count * Section.breakpointPlaces.stride),
    ]

    /// A root without entries for each purpose.
    private static let nodes = zeros(IndexPurpose.allCases.count * Section.nodes.stride)

    private static func summary(deciding count: UInt32 = 0) -> [UInt32] {
        IndexPurpose.allCases.flatMap { purpose -> [UInt32] in
            let own = purpose == .decide ? count : 0
            return [UInt32(purpose.rawValue), own, own]
        }
    }

    private static func zeros(_ count: Int) -> [UInt32] { [UInt32](repeating: 0, count: count) }

    private static func words(_ text: String) -> [UInt32] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<min(start + 4, bytes.count)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
