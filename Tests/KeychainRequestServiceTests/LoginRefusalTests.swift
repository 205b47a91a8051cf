// SPDX-License-Identifier: Apache-2.0
@testable import KeychainDaemon
import KeychainModel
import LoginHandoff
import Testing

@Suite struct LoginRefusalTests {
    @Test func `PAM's module hears of a refusal what it can act on, and no more`() {
        let told: [Refusal: LoginRefusal] = [
            .wrongPassword: .wrongPassword, .tooManyRequests: .busy, .notEntitled: .notAllowed,
            .badRequest: .badRequest, .noSession: .noSession,
        ]
        for refusal in Refusal.allCases {
            #expect(LoginRefusal(refusal) == told[refusal] ?? .internalError, "\(refusal)")
        }
    }
}
