// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainCommands

@Suite struct ErrorMeaningTests {
    @Test func `a refusal by a rule names the command that explains it`() {
        let advice = ErrorMeaning(.refused(.forbidden), keychain: nil).advice
        #expect(advice?.contains("keychainctl policy explain --last-denied") == true)
    }

    @Test(
        arguments: [
            .state(.readOnly), .failed(.inputOutput), .failed(.outOfMemory),
            .failed(.internalError),
        ] as [RequestError])
    func `a failure of the machine says what to do`(_ error: RequestError) {
        #expect(ErrorMeaning(error, keychain: "work").advice != nil)
    }
}
