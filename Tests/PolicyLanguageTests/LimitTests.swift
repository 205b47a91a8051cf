// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

/// Whatever the bytes are: an answer, soon.
struct LimitTests {
    private func codes(_ text: String) -> [DiagnosticCode] { load(text).diagnostics.map(\.code) }

    @Test func `a file of more than 1 MiB is refused`() {
        // A file of comments is none, but is read.
        #expect(codes(String(repeating: "#", count: 1 << 20)) == [.missingKey])
        #expect(codes(String(repeating: "#", count: 1 << 20 + 1)) == [.fileTooLarge])
    }

    @Test(arguments: ["[", "{", "- ", "[{a: "])
    func `nesting is refused before it is followed`(_ piece: String) {
        let text = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        #expect(codes(text) == [.tooDeep])
    }

    @Test func `sixteen levels are read and seventeen are not`() {
        func nested(_ depth: Int) -> String {
            "policy: v1\nname: n\nrules: "
                + String(repeating: "[", count: depth - 1)
                + String(repeating: "]", count: depth - 1) + "\n"
        }
        #expect(!codes(nested(16)).contains(.tooDeep))
        #expect(codes(nested(17)) == [.tooDeep])
    }

    @Test func `more values than a policy can need are refused`() {
        #expect(codes("[" + String(repeating: "a,", count: 300_000) + "]") == [.tooManyValues])
        let keys = (0..<5_000).map { "k\($0): v" }.joined(separator: ", ")
        #expect(codes("{\(keys)}") == [.tooManyValues])
    }

    @Test func `an alias bomb is refused at its first anchor`() {
        var text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for letter in "bcdefghi" { text += "\(letter): &\(letter) [*a, *a, *a, *a, *a, *a]\n" }
        let found = load(text).diagnostics
        #expect(found.map(\.code) == [.anchorOrAlias])
        #expect(found.first?.place == SourcePlace(line: 1, column: 4))
    }

    @Test func `a set has at most 20,000 rules`() {
        func some(_ count: Int, _ name: String) -> SourceFile {
            file(
                "policy: v1\nname: \(name)\nrules:\n"
                    + (0..<count).map { "- {id: \(name).r\($0), forbid: no}\n" }.joined(),
                "\(name).yaml")
        }
        let fits = LoadedPolicies([[some(10_000, "a"), some(10_000, "b")]], today: testDay)
        #expect(fits.diagnostics.isEmpty)
        #expect(fits.policy.rules.count == 20_000)
        let over = LoadedPolicies([[some(10_000, "a"), some(10_001, "b")]], today: testDay)
        #expect(over.diagnostics.map(\.code) == [.tooManyRules])
        #expect(load(String(decoding: some(20_001, "a").bytes, as: UTF8.self)).hasErrors)
    }

    @Test func `a file tells at most a hundred mistakes`() {
        let text = rules((0..<500).map { "  - {id: a.r\($0), forbit: no}\n" }.joined())
        #expect(load(text).diagnostics.count == 100)
    }

    @Test func `sixty-four attributes can be redacted`() {
        func redacting(_ count: Int) -> String {
            rules(
                "  - {id: a.b, redact: ["
                    + (0..<count).map { "a\(100 + $0)" }.joined(separator: ", ")
                    + "]}\n")
        }
        #expect(codes(redacting(64)).isEmpty)
        #expect(codes(redacting(65)) == [.tooMuchRedacted])
    }
}
