// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import KeychainModel
import Testing

@testable import KeychainCommands

/// What is read without the parser means the same as with it.
@Suite struct PlainGetTests {
    /// nil where the parser refuses, or would do something else.
    private static func parsed(_ words: [String]) -> GetCommand.Target? {
        let command = try? KeychainCommand.parseAsRoot(words) as? GetCommand
        guard let command, !command.copy, !command.wanted.output.json else { return nil }
        return try? command.target()
    }

    @Test(arguments: [
        "get generic-password --service mail",
        "get generic-password --service mail --account alice",
        "get --account alice generic-password --label x --comment y --description z",
        "get internet-password --server host --protocol https --port 8443 --path /a",
        "get key --label signing --group team --accessible when-unlocked",
        "get certificate --label root --keychain work --no-prompt",
        "get --no-prompt generic-password --group team", "get mail", "get mail/me",
        "get --keychain work git.example:443/me --no-prompt", "get mail --account me",
    ])
    func `a get as programs call it is read in short, as the parser reads it`(
        _ line: String
    ) throws {
        let words = line.split(separator: " ").map(String.init)
        let plain = try #require(PlainGet(words))
        #expect(plain.target == Self.parsed(words))
    }

    @Test(arguments: [
        "", "list generic-password", "get", "get generic-password", "get --service mail",
        "get generic-password --service", "get generic-password --service=mail",
        "get generic-password --service mail --json", "get generic-password --service mail --help",
        "get generic-password --service mail -h", "get generic-password --service -x",
        "get generic-password --service a --service b", "get generic-password key --service mail",
        "get generic-password mail", "get mail --copy", "get --copy mail",
        "get generic-password --server host", "get internet-password --port many",
        "get internet-password --protocol gopher", "get generic-password --accessible never",
        "get -- generic-password --service mail", "help get",
    ])
    func `all else is the parser's`(_ line: String) {
        #expect(PlainGet(line.split(separator: " ").map(String.init)) == nil)
    }

    @Test func `no empty value is read in short`() {
        #expect(PlainGet(["get", "generic-password", "--service", ""]) == nil)
    }

    @Test func `whatever is read in short the parser reads in the same way`() {
        let words = [
            "generic-password", "internet-password", "key", "--service", "--account", "--server",
            "--port", "--protocol", "--path", "--label", "--comment", "--description", "--group",
            "--accessible", "--keychain", "--no-prompt", "--json", "--", "-", "--service=a", "get",
            "https", "443", "when-unlocked", "a", "ä b", "",
        ]
        var readInShort = 0
        for _ in 0..<4000 {
            let kind = words.prefix(3).randomElement() ?? ""
            let rest = (0..<Int.random(in: 1...4)).map { _ in words.randomElement() ?? "" }
            let line = ["get", kind, "--label", "a"] + rest
            guard let plain = PlainGet(line) else { continue }
            readInShort += 1
            #expect(plain.target == Self.parsed(line), "\(line)")
        }
        #expect(readInShort > 0)
    }
}
