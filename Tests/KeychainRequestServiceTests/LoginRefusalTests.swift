// SPDX-License-Identifier: Apache-2.0
@testable import KeychainDaemon
import KeychainModel
import LoginHandoff
import Testing

@Suite struct LoginRefusalTests {
    @Test func `PAM's module hears of a refusal what it can act on, and no more`() {
        let told: [RequestError: LoginRefusal] = [
            .refused(.wrongPassword): .wrongPassword, .refused(.tooManyRequests): .busy,
            .refused(.notEntitled): .notAllowed,
            .invalid(.badRequest): .badRequest, .state(.noSession): .noSession,
        ]
        for refusal in RequestError.allCases {
            #expect(LoginRefusal(refusal) == told[refusal] ?? .internalError, "\(refusal)")
        }
    }
}
