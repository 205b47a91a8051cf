// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import Testing

@testable import PolicyRequestSpace

@Suite struct `Text classes` {
    /// All texts of up to four characters of a small alphabet.
    private static let texts: [PolicyText] = {
        var all = [""]
        var longest = [""]
        for _ in 0..<4 {
            longest = longest.flatMap { text in ["a", "b", ".", "/", "x"].map { text + $0 } }
            all += longest
        }
        return all.dropFirst().map { PolicyText($0) }
    }()

    private static let patterns = [
        "a", "ab", "a*", "ab*", "*.b", "*.a.b", "/a", "/a/*", "/a/**", "/*/b", "a*b", "a*b*", "*",
    ]

    @Test func `are all that patterns tell apart, each with a text of its own`() throws {
        var random = SplitMix(seed: 1)
        for _ in 0..<60 {
            let chosen = try (0..<4).map { _ in try TextPattern(random.pick(Self.patterns)) }
            let patterns = Array(Set(chosen))
            var budget = Budget(200_000)
            let found = try TextClasses(patterns, &budget)
            for own in found.classes {
                let matches = Set(patterns.indices.filter { patterns[$0].matches(own.text) })
                #expect(matches == own.matches)
            }
            let classes = Set(found.classes.map(\.matches))
            #expect(classes.count == found.classes.count)
            for text in Self.texts {
                let matches = Set(patterns.indices.filter { patterns[$0].matches(text) })
                #expect(classes.contains(matches), "\(text) under \(patterns)")
            }
        }
    }

    @Test func `are not decided beyond the budget`() throws {
        let patterns = try (0..<50).map { try TextPattern("p\($0)*q\($0)*") }
        var budget = Budget(100)
        #expect(throws: Budget.Spent.self) { try TextClasses(patterns, &budget) }
    }
}
