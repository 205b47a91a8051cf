// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Terminal
import Testing

@Suite struct PlainTextTests {
    @Test func `letters of all scripts stay as they are`() {
        #expect(PlainText.line("Grüße, 世界, مرحبا 🔑") == "Grüße, 世界, مرحبا 🔑")
    }

    @Test(arguments: [
        ("\u{1b}[2J", "\\u{1b}[2J"),
        ("a\rb", "a\\u{d}b"),
        ("\u{202e}evil", "\\u{202e}evil"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("zero\u{200b}width", "zero\\u{200b}width"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("line\u{2028}end", "line\\u{2028}end"),
        ("\u{0}\u{7f}", "\\u{0}\\u{7f}"),
    ])
    func `what could deceive a reader is shown escaped`(text: String, shown: String) {
        #expect(PlainText.line(text) == shown)
        #expect(PlainText.escaped(text) == shown)
    }

    @Test func `JSON for a terminal means the same and shows no such character`() throws {
        let texts = ["\u{9b}31m", "\u{202e}evil", "\u{7f}", "\u{e0001}", "Grüße 🔑", "a\nb"]
        let json = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let shown = PlainText.json(json + "\n")
        #expect(shown.contains(#""\u009b31m""#) && shown.contains("Grüße 🔑"))
        #expect(PlainText.escaped(shown) == shown)
        #expect(try JSONDecoder().decode([String].self, from: Data(shown.utf8)) == texts)
    }

    @Test func `a line end stays only where lines are wanted`() {
        #expect(PlainText.escaped("a\nb") == "a\nb")
        #expect(PlainText.line("a\nb") == "a\\u{a}b")
        #expect(PlainText.escaped("a\r\nb") == "a\\u{d}\nb")
    }
}
