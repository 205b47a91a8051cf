// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Terminal
import Testing

@Suite struct SecretLinesTests {
    @Test(arguments: [
        ("", []),
        ("one", ["one"]),
        ("one\n", ["one"]),
        ("one\ntwo", ["one", "two"]),
        ("one\ntwo\n", ["one", "two"]),
        ("\n", [""]),
        ("\n\n", ["", ""]),
        ("one\n\n", ["one", ""]),
    ])
    func `an end behind the last line begins no other`(text: String, expected: [String]) {
        let lines = SecretBytes(copying: Array(text.utf8)).lines()
        #expect(lines.map(Self.text) == expected)
    }

    private static func text(_ secret: HeldSecret) -> String {
        String(decoding: secret.bytes.releasedFromLockedMemory(), as: UTF8.self)
    }
}
