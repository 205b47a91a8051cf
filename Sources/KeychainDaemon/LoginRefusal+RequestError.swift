// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import LoginHandoff

extension LoginRefusal {
    /// What PAM's module may know of an error.
    init(_ error: RequestError) {
        switch error {
        case .refused(.wrongPassword): self = .wrongPassword
        case .refused(.tooManyRequests): self = .busy
        case .refused(.notEntitled): self = .notAllowed
        case .invalid(.badRequest): self = .badRequest
        case .state(.noSession): self = .noSession
        case .invalid, .refused, .state, .failed: self = .internalError
        }
    }
}
