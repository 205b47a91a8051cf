// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import Testing

@testable import LocalAuthentication

private let policies: [LAPolicy] = [
    .deviceOwnerAuthentication, .deviceOwnerAuthenticationWithBiometrics,
    .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithBiometricsOrCompanion,
]

/// A machine on which everything could be proven.
private func everything(interaction: Bool) -> Capabilities {
    var known = Capabilities()
    known.passcode = true
    known.presence = true
    known.biometry = .available
    known.companion = true
    known.interaction = interaction
    return known
}

@Suite struct LAPolicyTests {
    @Test(arguments: policies)
    func `can be evaluated only where there is a way to ask`(_ policy: LAPolicy) {
        let here = everything(interaction: true)
        #expect(policy.obstacle(here, mustAsk: true) == nil)
        let alone = everything(interaction: false)
        #expect(policy.obstacle(alone, mustAsk: true) == .notInteractive)
        // The service decides on an evaluation: what was proven before needs no question.
        #expect(policy.obstacle(alone, mustAsk: false) == nil)
    }

    @Test func `tells first what the machine lacks`() {
        var known = everything(interaction: false)
        known.biometry = .notEnrolled
        let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        #expect(biometrics.obstacle(known, mustAsk: true) == .biometryNotEnrolled)
        known.passcode = false
        known.presence = false
        #expect(biometrics.obstacle(known, mustAsk: true) == .passcodeNotSet)
    }
}
