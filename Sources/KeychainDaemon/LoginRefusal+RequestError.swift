// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import LoginHandoff

extension LoginRefusal {
    /// The part of an error that the PAM module may know.
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
