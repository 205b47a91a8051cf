// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

extension DaemonConversation {
    /// Why the daemon refuses this prompter, and what helps.
    static func meaning(of error: RequestError) -> String {
        switch error {
        case .refused(.notEntitled):
            """
            the keychain service does not know this program as its prompter; it must be the \
            installed one, setgid to the group _keychain-prompt
            """
        case .state(.duplicate): "another prompter already answers here"
        case .state(.noSession):
            """
            the keychain service knows no terminal to which this prompter belongs, and no login \
            session whose display it could be
            """
        case .state(.notFound): "the answer to this question is not waited for any more"
        case .refused(.tooManyRequests):
            "the keychain service has too many connections; try again later"
        case .state(.olderService):
            "the keychain service that runs is older than this prompter: restart keychaind"
        case .state(.olderProgram):
            """
            this prompter is older than the keychain service that runs: install the same version \
            of both
            """
        case .invalid, .refused, .state, .failed:
            "the keychain service refused (\(error.rawValue))"
        }
    }
}
