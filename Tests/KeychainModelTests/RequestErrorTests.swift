// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

struct RequestErrorTests {
    @Test func `a number is one error's, of whatever kind`() {
        for error in RequestError.allCases {
            #expect(RequestError(rawValue: error.rawValue) == error, "\(error)")
        }
        #expect(Set(RequestError.allCases.map(\.rawValue)).count == RequestError.allCases.count)
        // 0 is “no error” where a message may have none.
        #expect(RequestError(rawValue: 0) == nil && RequestError(rawValue: 255) == nil)
    }

    /// An exit code has one byte.
    @Test func `a number can be an exit code`() {
        for error in RequestError.allCases { #expect(error.rawValue < 256, "\(error)") }
    }

    @Test func `a name is one error's, and is that of its case`() {
        #expect(Set(RequestError.allCases.map { "\($0)" }).count == RequestError.allCases.count)
        #expect("\(RequestError.state(.notFound))" == "notFound")
    }
}
