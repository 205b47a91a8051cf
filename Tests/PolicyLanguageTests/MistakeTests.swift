// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax
import PolicyTools
import Testing

/// A file with all that is said of it.
struct Mistake: Sendable, CustomTestStringConvertible {
    let code: DiagnosticCode
    let yaml: String
    let told: String

    init(_ code: DiagnosticCode, _ yaml: String, _ told: String) {
        self.code = code
        self.yaml = yaml
        self.told = told
    }

    var testDescription: String { "\(code.name) \(code)" }
}

struct MistakeTests {
    @Test(arguments: formMistakes + fieldMistakes + ruleMistakes + meaningMistakes + testMistakes)
    func `a mistake is told with its place, its line and what helps`(_ mistake: Mistake) {
        let loaded = load(mistake.yaml)
        var diagnostics = loaded.diagnostics
        if !loaded.hasErrors { diagnostics += PolicyTestRun(loaded).diagnostics }
        #expect(diagnostics.sorted().map(\.text).joined() == mistake.told)
        #expect(diagnostics.contains { $0.code == mistake.code })
    }

    @Test(arguments: [
        ("allow: ok", "permit"), ("deny: no", "forbid"), ("require: password", "passcode"),
        ("forbid: no, operations: read", "read-secret"), ("forbid: no, except: []", "unless"),
        ("forbid: no, subject: {program: /bin/a}", "exe"),
        ("require: passcode, scope: login", "session"), ("require: touch", "presence"),
    ])
    func `words of other systems lead to ours`(_ rule: String, _ word: String) {
        let told = load(rules("  - {id: a.b, \(rule)}\n")).diagnostics.map(\.text).joined()
        #expect(told.contains("did you mean \"\(word)\"?"))
    }

    @Test(arguments: [
        ("  - id: a.b\n   forbid: no\n", "indent what belongs together alike"),
        (
            "  - id: a.b\n    forbid: no\n     operations: sign\n",
            "indent keys that belong together"
        ),
        ("  - id: a.b\n    forbid: not here: elsewhere\n", "quote a text that has \": \" in it"),
    ])
    func `what is no YAML is told with what is mostly the matter`(_ text: String, _ advice: String)
    {
        let told = load(rules(text)).diagnostics.map(\.text).joined()
        #expect(told.contains("error[KC1014]") && told.contains(advice))
    }

    @Test func `every code has a test that shows its text`() {
        let shown = Set(
            (formMistakes + fieldMistakes + ruleMistakes + meaningMistakes + testMistakes)
                .map(\.code))
        // These are about sizes, folders, sets and what the analysis finds: tested beside those.
        let elsewhere: Set<DiagnosticCode> = [
            .notUTF8, .fileTooLarge, .tooManyValues, .tooManyRules, .tooMuchRedacted, .unreadable,
            .wrongOwner, .wrongMode, .linkedElsewhere, .notARegularFile, .notATest, .unknownName,
            .duplicateRule, .permitOutsideClosed, .unconfiguredService, .untested, .dead, .shadowed,
            .slow, .over, .undecided, .refutedAssertion, .undecidedAssertion, .weakProgram,
            .forbidsAll,
        ]
        #expect(shown.union(elsewhere) == Set(DiagnosticCode.allCases))
        #expect(shown.isDisjoint(with: elsewhere))
    }

    @Test func `text that is not UTF-8 is told with its place`() {
        let source = SourceFile(path: "p.yaml", bytes: Array("policy: v1\nname: ".utf8) + [0xFF])
        let loaded = LoadedPolicies([[source]], today: testDay)
        #expect(
            loaded.diagnostics.map(\.text) == [
                """
                p.yaml:2:7: error[KC1001]: this is not UTF-8
                    2 | name: �
                      |       ^ save the file as UTF-8

                """
            ])
    }

    @Test func `a file of tests may hold nothing else`() {
        let text = "policy: v1\nname: n\nrules:\n  - {id: a.b, forbid: no}\n"
        let loaded = LoadedPolicies([[file(text, "a_test.yaml")]], today: testDay)
        #expect(
            loaded.diagnostics.map(\.text) == [
                """
                a_test.yaml:3:1: error[KC2030]: "rules" in a file of tests
                    3 | rules:
                      | ^^^^^ files called *_test.yaml hold tests only

                """
            ])
    }
}
