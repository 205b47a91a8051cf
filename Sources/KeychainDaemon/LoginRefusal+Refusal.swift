// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import LoginHandoff

extension LoginRefusal {
    /// What PAM's module may know of a refusal.
    init(_ refusal: Refusal) {
        switch refusal {
        case .wrongPassword: self = .wrongPassword
        case .tooManyRequests: self = .busy
        case .notEntitled: self = .notAllowed
        case .badRequest: self = .badRequest
        case .noSession: self = .noSession
        default: self = .internalError
        }
    }
}
