// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@Suite struct RecoveryKeyTests {
    private static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ".utf8)

    private func text(_ key: borrowing RecoveryKey) -> [UInt8] {
        key.text().releasedFromLockedMemory()
    }

    private func error(typing text: [UInt8]) -> RecoveryKeyError? {
        do throws(RecoveryKeyError) {
            _ = try RecoveryKey(typed: SecretBytes(copying: text))
            return nil
        } catch { return error }
    }

    private func bytes(_ key: consuming SealingKey) -> [UInt8] {
        key.bytes.releasedFromLockedMemory()
    }

    @Test func `it is seven groups of five characters that don't look like each other`() {
        let printed = text(RecoveryKey.random())
        let groups = printed.split(separator: UInt8(ascii: "-"))
        #expect(groups.map(\.count) == Array(repeating: 5, count: 7))
        #expect(groups.joined().allSatisfy(Self.alphabet.contains))
    }

    @Test func `no two are the same`() {
        let printed = Set((0..<200).map { _ in text(RecoveryKey.random()) })
        #expect(printed.count == 200)
    }

    @Test func `every character occurs`() {
        let characters = Set((0..<200).flatMap { _ in text(RecoveryKey.random()) })
        #expect(characters == Set(Self.alphabet + [UInt8(ascii: "-")]))
    }

    @Test func `what was printed is the same key, however it is typed`() throws {
        let key = RecoveryKey.random()
        let printed = text(key)
        let expected = bytes(key.key())
        let small = String(decoding: printed, as: UTF8.self).lowercased()
        for typed in [
            small, small.replacing("-", with: ""), " " + small.replacing("-", with: "  ") + "\t",
        ] {
            let again = try RecoveryKey(typed: SecretBytes(copying: Array(typed.utf8)))
            let found = bytes(again.key())
            #expect(found == expected)
        }
    }

    @Test func `one wrong character is noticed wherever it is, and its group named`() {
        let printed = text(RecoveryKey.random())
        for place in printed.indices where printed[place] != UInt8(ascii: "-") {
            for character in Self.alphabet where character != printed[place] {
                var typed = printed
                typed[place] = character
                #expect(error(typing: typed) == .mistyped(group: place / 6 + 1))
            }
        }
    }

    @Test func `two characters that have changed places are noticed`() {
        for _ in 0..<50 {
            let printed = text(RecoveryKey.random())
            for group in 0..<7 {
                for a in 0..<4 {
                    for b in a + 1..<5 where printed[group * 6 + a] != printed[group * 6 + b] {
                        var typed = printed
                        typed.swapAt(group * 6 + a, group * 6 + b)
                        #expect(error(typing: typed) == .mistyped(group: group + 1))
                    }
                }
            }
        }
    }

    @Test func `two groups that have changed places are noticed`() {
        let printed = text(RecoveryKey.random())
        for a in 0..<6 {
            for b in a + 1..<7 {
                var typed = printed
                for place in 0..<5 { typed.swapAt(a * 6 + place, b * 6 + place) }
                #expect(error(typing: typed) == .mistyped(group: a + 1))
            }
        }
    }

    @Test func `a character that recovery keys don't have is told as such`() {
        for character in Array("01IOio!é".utf8) {
            var typed = text(RecoveryKey.random())
            typed[8] = character
            #expect(error(typing: typed) == .strangeCharacter(group: 2))
        }
    }

    @Test func `too much and too little are told as such`() {
        let printed = text(RecoveryKey.random())
        #expect(error(typing: []) == .wrongLength)
        #expect(error(typing: printed.dropLast()) == .wrongLength)
        #expect(error(typing: printed + [UInt8(ascii: "2")]) == .wrongLength)
        #expect(error(typing: Array(repeating: UInt8(ascii: " "), count: 129)) == .wrongLength)
    }

    @Test func `a group that is typed to confirm the key is that group and no other`() {
        let key = RecoveryKey.random()
        let printed = text(key)
        for number in 1...7 {
            let right = Array(printed[(number - 1) * 6..<(number - 1) * 6 + 5])
            let small = String(decoding: right, as: UTF8.self).lowercased() + " "
            let isRight = key.group(number, isTypedAs: SecretBytes(copying: Array(small.utf8)))
            #expect(isRight)
            for wrong in [[], Array(right.dropLast()), right + right, Array("0".utf8)] {
                let isRight = key.group(number, isTypedAs: SecretBytes(copying: wrong))
                #expect(!isRight)
            }
        }
    }
}
