// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainStatusCodes
internal import Terminal

/// Why a helper failed. No case has any part of a secret.
package enum HelperFailure: Error, Equatable {
    /// The tool's arguments are unknown; the usage is shown.
    case usage
    /// The tool's input can't be read.
    case badInput(String)
    /// The request is unknown, or for something that is not stored.
    case unsupported(String)
    case notFound
    case keychain(RequestError)
    /// There is no terminal and no window to ask in, or the user cancelled.
    case unanswered(String)
    /// The tool did not read the answer.
    case unwritten

    /// A sentence for people.
    package var sentence: String {
        switch self {
        case .usage: "it was called in a way that it does not know"
        case .badInput(let sentence), .unsupported(let sentence), .unanswered(let sentence):
            sentence
        case .notFound: "the keychain has no such item"
        case .keychain(let error): Self.sentence(error)
        case .unwritten: "the answer could not be written"
        }
    }

    private static func sentence(_ error: RequestError) -> String {
        switch error {
        case .state(.locked), .state(.noSession):
            "the keychain is locked, and there is no way to ask; keychainctl unlock opens it"
        case .refused(.interactionNotAllowed):
            "you would have to be asked, and there is no way to ask you"
        case .failed(.notAvailable):
            "the keychain service is not there; keychainctl doctor says why"
        default: StatusMessages.text(for: error.statusCode)
        }
    }

    init(_ error: TerminalError) {
        self =
            switch error {
            case .tooLong: .badInput("the request is too long")
            case .noTerminal: .unanswered("there is no terminal to ask on")
            case .shared: .unanswered(Terminal.isShared)
            case .cancelled, .abandoned, .hungUp: .unanswered("the question was not answered")
            case .system(let code): .badInput("the request could not be read (error \(code))")
            }
    }
}
