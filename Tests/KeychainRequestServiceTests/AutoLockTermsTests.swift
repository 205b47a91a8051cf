// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainVaults

@Suite struct AutoLockTermsTests {
    private static let begun = Duration.seconds(1000)

    private func terms(idle: UInt32? = nil, whole: UInt32? = nil) -> AutoLockTerms {
        AutoLockTerms(
            KeychainSettings(lockAfterIdle: idle, lockAfter: whole), begun: Self.begun)
    }

    private func read(_ bytes: [UInt8]) -> AutoLockTerms? {
        // Safe: the span ends with the call.
        AutoLockTerms(unsafe bytes.span.bytes)
    }

    @Test(arguments: [
        KeychainSettings(), .loosest, .strictest,
        KeychainSettings(lockAfterIdle: .max, lockAfter: .max, locksWithScreen: false),
    ])
    func `what is written is read again`(settings: KeychainSettings) throws {
        let terms = AutoLockTerms(settings, begun: .milliseconds(123_456_789))
        #expect(terms.bytes.count == AutoLockTerms.byteCount)
        #expect(read(terms.bytes) == terms)
    }

    @Test func `other bytes are no terms`() {
        let bytes = terms().bytes
        #expect(read(Array(bytes.dropLast())) == nil)
        #expect(read(bytes + [0]) == nil)
        #expect(read([4] + bytes.dropFirst()) == nil)
        // A time that does not fit.
        #expect(read([UInt8](repeating: 0xff, count: AutoLockTerms.byteCount)) == nil)
        #expect(
            read([0] + [UInt8](repeating: 0xff, count: AutoLockTerms.byteCount - 1)) == nil
        )
    }

    @Test func `without limits there is no end`() {
        #expect(terms().rest(lastUse: Self.begun, at: .seconds(1_000_000)) == nil)
    }

    @Test func `idle is counted from the last use`() {
        let terms = terms(idle: 60)
        #expect(terms.rest(lastUse: Self.begun, at: .seconds(1059)) == .seconds(1))
        #expect(terms.rest(lastUse: Self.begun, at: .seconds(1060)) == .zero)
        #expect(terms.rest(lastUse: .seconds(1059), at: .seconds(1060)) == .seconds(59))
    }

    @Test func `no use leads beyond the whole time`() {
        let terms = terms(idle: 60, whole: 90)
        #expect(terms.rest(lastUse: .seconds(1080), at: .seconds(1080)) == .seconds(10))
        #expect(terms.rest(lastUse: .seconds(1090), at: .seconds(1090)) == .zero)
        #expect(terms.rest(lastUse: .seconds(1090), at: .seconds(9999)) == .zero)
    }

    @Test func `of an owner's and an administrator's wishes the tighter counts`() {
        let own = KeychainSettings(
            lockAfterIdle: 60, lockAfter: nil, locksOnSleep: false, locksWithScreen: true)
        let bounds = KeychainSettings(
            lockAfterIdle: 90, lockAfter: 3600, locksOnSleep: true, locksWithScreen: false)
        #expect(
            own.tightened(by: bounds)
                == KeychainSettings(lockAfterIdle: 60, lockAfter: 3600))
        #expect(own.tightened(by: .loosest) == own)
    }
}
