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
    func `can be evaluated where the machine is set up for it, prompter or not`(
        _ policy: LAPolicy
    ) {
        // The service decides on an evaluation: what was proven before needs no question.
        for interaction in [true, false] {
            #expect(policy.obstacle(everything(interaction: interaction)) == nil)
        }
    }

    @Test func `tells first what the machine lacks`() {
        var known = everything(interaction: false)
        known.biometry = .notEnrolled
        let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        #expect(biometrics.obstacle(known) == .biometryNotEnrolled)
        known.passcode = false
        known.presence = false
        #expect(biometrics.obstacle(known) == .passcodeNotSet)
    }
}
