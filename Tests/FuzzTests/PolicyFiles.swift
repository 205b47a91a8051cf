// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyTools

@testable import PolicyLanguage
@testable import PolicySyntax

/// A file of policies as a person wrote it.
enum PolicyFiles {
    private static let day: Int32 = 20_778
    private static let mostBytesOfDiagnostics = 400_000

    /// The reader and the formatter, which must not change what it formats twice.
    static func readYAML(_ bytes: [UInt8]) throws -> Bool {
        let source = SourceFile(path: "p.yaml", bytes: bytes)
        guard let document = try? YAMLDocument.read(source) else { return false }
        try require(depth(document) <= YAMLProfile.greatestDepth + 1, "a value nests too deep")
        guard let once = try? PolicyFormatter.format(source) else { return true }
        let again = try? PolicyFormatter.format(SourceFile(path: "p.yaml", bytes: once))
        try require(again == once, "a formatted file is formatted differently")
        return true
    }

    private static func depth(_ node: YAMLNode) -> Int {
        switch node.content {
        case .scalar: 1
        case .list(let nodes): 1 + (nodes.map(depth).max() ?? 0)
        case .mapping(let entries): 1 + (entries.map { depth($0.value) }.max() ?? 0)
        }
    }

    /// All that becomes of a file: mistakes with their places, or a policy that compiles and
    /// decides.
    static func readPolicies(_ bytes: [UInt8]) throws -> Bool {
        let source = SourceFile(path: "p.yaml", bytes: bytes)
        let loaded = LoadedPolicies([[source]], today: day)
        let told = loaded.diagnostics.reduce(0) { $0 + $1.text.utf8.count }
        try require(told <= mostBytesOfDiagnostics, "\(told) bytes of mistakes")
        guard !loaded.hasErrors else { return false }
        _ = PolicyTestRun(loaded)
        guard let compiled = try? CompiledPolicy(loaded.policy) else { return true }
        guard let again = try? CompiledPolicy(snapshot: compiled.snapshot) else {
            throw Broken(description: "a policy is compiled to an image that is refused")
        }
        try require(again.checksum == compiled.checksum, "an image is loaded as another one")
        return true
    }
}
