// SPDX-License-Identifier: Apache-2.0
import KeychainModel
@testable import KeychainVaults
import Testing

/// Guesses at items' application passwords, as they are counted.
@Suite struct ItemThrottleCountTests {
    private let throttle = ItemThrottle()

    private func target(_ number: UInt8, user: UInt32 = 1) throws -> ItemThrottle.Target {
        ItemThrottle.Target(
            keychain: KeychainID(user: user, name: .login),
            item: try #require(
                ItemReference(
                    itemClass: .genericPassword,
                    identifier: [UInt8](repeating: number, count: 16))))
    }

    private func guess(
        _ targets: Set<ItemThrottle.Target>, _ outcome: UnlockThrottle.Outcome
    ) throws(RequestError) {
        try throttle.begin(targets)
        throttle.end(targets, outcome)
    }

    @Test func `one password for several items is a guess at each of them`() throws {
        let (a, b) = (try target(1), try target(2))
        for _ in 0..<3 { try guess([a, b], .wrong) }
        for one in [a, b] {
            #expect(throws: RequestError.refused(.tooManyRequests)) { try throttle.check([one]) }
            #expect(throws: RequestError.refused(.tooManyRequests)) { try throttle.begin([one]) }
        }
        // One that has to wait holds up the others that are asked for with it.
        let other = try target(3)
        try throttle.check([other])
        #expect(throws: RequestError.refused(.tooManyRequests)) { try throttle.begin([other, a]) }
        try guess([other], .right)
    }

    @Test func `another user's item of the same number is another item`() throws {
        let mine = try target(1)
        for _ in 0..<3 { try guess([mine], .wrong) }
        try throttle.check([try target(1, user: 2)])
    }

    @Test func `the right password makes up for wrong ones, an undecided try does not`() throws {
        let item = try target(1)
        for _ in 0..<2 { try guess([item], .wrong) }
        try guess([item], .right)
        for _ in 0..<2 { try guess([item], .wrong) }
        try guess([item], .undecided)
        try guess([item], .wrong)
        #expect(throws: RequestError.refused(.tooManyRequests)) { try throttle.check([item]) }
    }
}
