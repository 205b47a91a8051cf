// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainSecrets

@Suite struct SecretBytesTests {
    private struct Failure: Error {}

    private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
        secret.releasedFromLockedMemory()
    }

    @Test(arguments: [0, 1, 63, 64, 65, 256, 257, 1024, 4096, 4097, 100_000])
    func `a secret of any length comes back`(_ count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        let secret = SecretBytes(copying: content)
        #expect(secret.count == count)
        #expect(bytes(secret) == content)
        #expect(bytes(secret.copy()) == content)
    }

    @Test func `a range that moves to the beginning leaves nothing of what was before it`() {
        func moved(_ range: Range<Int>, of bytes: [UInt8]) -> [UInt8] {
            var secret = SecretBytes(copying: bytes)
            secret.moveToBeginning(range)
            return secret.releasedFromLockedMemory()
        }
        #expect(moved(3..<5, of: [1, 2, 3, 4, 5, 9]) == [4, 5, 0, 0, 0, 9])
        // The range overlaps with its new place.
        #expect(moved(1..<5, of: [1, 2, 3, 4, 5, 9]) == [2, 3, 4, 5, 0, 9])
        #expect(moved(5..<5, of: [1, 2, 3, 4, 5, 9]) == [0, 0, 0, 0, 0, 9])
        #expect(moved(0..<6, of: [1, 2, 3, 4, 5, 9]) == [1, 2, 3, 4, 5, 9])
        #expect(moved(0..<0, of: []) == [])
    }

    @Test func `random secrets differ and have their length`() {
        let first = SecretBytes(random: 32)
        let second = SecretBytes(random: 32)
        #expect(first.count == 32)
        #expect(bytes(first) != bytes(second))
        #expect(bytes(first) != [UInt8](repeating: 0, count: 32))
    }

    @Test func `matching looks at every byte and at the length`() {
        let content = [UInt8](repeating: 9, count: 40)
        let secret = SecretBytes(copying: content)
        func matches(_ other: [UInt8]) -> Bool { secret.matches(SecretBytes(copying: other)) }
        #expect(matches(content))
        #expect(!matches(Array(content.dropLast())))
        for position in content.indices {
            var other = content
            other[position] ^= 0x80
            #expect(!matches(other))
        }
    }

    @Test func `parts and joins are what they say`() {
        let secret = SecretBytes(copying: [1, 2, 3, 4, 5])
        #expect(bytes(secret.part(1..<4)) == [2, 3, 4])
        #expect(bytes(secret.part(5..<5)) == [])
        #expect(bytes(secret.appending(SecretBytes(copying: [6]))) == [1, 2, 3, 4, 5, 6])
        #expect(bytes(secret.appending(SecretBytes(copying: []))) == [1, 2, 3, 4, 5])
    }

    @Test func `a new secret is zero where nothing was written`() {
        // Slots that held something before come first.
        for _ in 0..<50 { _ = SecretBytes(copying: [UInt8](repeating: 0xAA, count: 64)) }
        for _ in 0..<50 {
            let fresh = SecretBytes(count: 64) { (_: inout MutableRawSpan) in }
            #expect(bytes(fresh) == [UInt8](repeating: 0, count: 64))
        }
    }

    @Test func `a secret whose writing failed is none`() {
        #expect(throws: Failure.self) {
            _ = try SecretBytes(count: 64) { (_: inout MutableRawSpan) in throw Failure() }
        }
    }

    @Test func `many secrets live at once`() {
        let held = (0..<10_000).map { HeldSecret(SecretBytes(copying: [UInt8($0 % 251)])) }
        for (number, secret) in held.enumerated() {
            #expect(bytes(secret.bytes) == [UInt8(number % 251)])
        }
    }

    @Test func `eight threads hold secrets without mixing them up`() {
        let mixedUp = Mixups()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<2_000 {
                let content = [UInt8](repeating: UInt8(thread), count: 1 + round % 300)
                let secret = SecretBytes(copying: content)
                if secret.releasedFromLockedMemory() != content { mixedUp.add() }
            }
        }
        #expect(mixedUp.count == 0)
    }

    @Test func `a writer puts pieces one behind the other and stops where they end`() {
        var writer = SecretWriter(capacity: 6)
        writer.append(SecretBytes(copying: [1, 2]))
        writer.append(SecretBytes(copying: []))
        writer.append(SecretBytes(copying: [3]))
        let written = writer.finish()
        #expect(bytes(written) == [1, 2, 3])
        var full = SecretWriter(capacity: 2)
        full.append(SecretBytes(copying: [8, 9]))
        let whole = full.finish()
        #expect(bytes(whole) == [8, 9])
    }

    @Test func `a narrowed secret is its middle, and may be narrowed to nothing`() {
        let secret = SecretBytes(copying: [1, 2, 3, 4, 5, 6]).narrowed(to: 1..<5)
        #expect(secret.releasedFromLockedMemory() == [2, 3, 4, 5])
        let less = secret.narrowed(to: 2..<3)
        #expect(less.releasedFromLockedMemory() == [4])
        let nothing = less.narrowed(to: 1..<1)
        let isEmpty = nothing.matches(SecretBytes(copying: []))
        #expect(isEmpty)
    }
}
