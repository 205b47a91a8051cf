// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

@Suite struct FoldedTextTests {
    private func same(_ a: String, _ b: String, _ folding: ItemQuery.Folding) -> Bool {
        FoldedText(a, folding) == FoldedText(b, folding)
    }

    @Test(arguments: [
        ("Zoe", "zOE"), ("STRASSE", "Straße"), ("ẞ", "ss"), ("ΣΑΣ", "σας"), ("ﬁ", "FI"),
        ("\u{212A}", "k"), ("Ǆ", "ǆ"), ("É", "e\u{301}"),
    ])
    func `case is no difference where it is not asked for`(_ a: String, _ b: String) {
        #expect(same(a, b, .caseInsensitive))
        #expect(!same(a, b, .widthInsensitive))
    }

    @Test(arguments: [("é", "e"), ("й", "и"), ("ά", "α"), ("שָ", "ש"), ("1\u{20E3}", "1")])
    func `a mark is no difference where it is not asked for`(_ a: String, _ b: String) {
        #expect(same(a, b, .diacriticInsensitive))
        #expect(!same(a, b, .caseInsensitive))
    }

    @Test(arguments: [
        ("Ａ～", "A~"), ("￥", "¥"), ("ｶ", "カ"), ("ﾟ", "\u{309A}"), ("｟", "⦅"),
        ("ﾡￜ", "\u{1100}\u{1175}"),
        ("￮", "○"),
    ])
    func `width is no difference where it is not asked for`(_ a: String, _ b: String) {
        #expect(same(a, b, .widthInsensitive))
        #expect(!same(a, b, [.caseInsensitive, .diacriticInsensitive]))
    }

    @Test(arguments: [("ı", "i"), ("o", "ø"), ("か", "が"), ("a", ""), ("a", "b"), ("﾿", "a")])
    func `another letter is another text`(_ a: String, _ b: String) {
        #expect(!same(a, b, [.caseInsensitive, .diacriticInsensitive, .widthInsensitive]))
    }

    @Test func `texts of one canonical form are the same`() {
        #expect(same("\u{E9}", "e\u{301}", .widthInsensitive))
        #expect(same("a\u{301}\u{327}", "a\u{327}\u{301}", .caseInsensitive))
        #expect(same("\u{212B}", "\u{C5}", .caseInsensitive))
    }
}
