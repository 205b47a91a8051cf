// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax
import PolicyTools
import Testing

struct NaturalMistakeTests {
    @Test(arguments: naturalMistakes)
    func `a mistake that is natural elsewhere is answered with what to write`(
        _ mistake: NaturalMistake
    ) {
        let told = checked(mistake.yaml)
        let texts = told.map(\.text)
        #expect(
            told.contains {
                $0.code.rawValue == mistake.code && $0.place.line == mistake.line
                    && $0.text.contains(mistake.answer)
            }, "\(texts.joined())")
        #expect(told.count <= 4, "\(texts.joined())")
    }

    @Test func `at least 79 of them are known`() {
        #expect(Set(naturalMistakes.map(\.yaml)).count >= 79)
    }

    /// All that `keychainctl policy check` says.
    private func checked(_ text: String) -> [Diagnostic] {
        let loaded = load(text)
        guard !loaded.hasErrors else { return loaded.diagnostics }
        return loaded.diagnostics + PolicyTestRun(loaded).diagnostics
            + PolicyLint(forCheckOf: loaded, today: testDay).diagnostics
    }
}
