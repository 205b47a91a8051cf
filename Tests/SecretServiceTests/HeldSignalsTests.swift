// SPDX-License-Identifier: Apache-2.0
@testable internal import SecretService
internal import Testing

@Suite struct HeldSignalsTests {
    @Test func `signals of one program wait up to its own bound`() {
        var held = HeldSignals()
        let taken = (0...Limits.heldSignalsOfPeer).map { held.take(besides: $0) }
        #expect(taken.dropLast().allSatisfy(\.self) && taken.last == false)
        let ofAnother = held.take(besides: 0)
        #expect(ofAnother)
    }

    @Test func `signals of all programs have a bound, and what is released makes room`() {
        var held = HeldSignals()
        let taken = (0...Limits.heldSignals).map { _ in held.take(besides: 0) }
        #expect(taken.dropLast().allSatisfy(\.self) && taken.last == false)
        held.release(2)
        let again = (0..<3).map { _ in held.take(besides: 0) }
        #expect(again == [true, true, false])
    }
}
