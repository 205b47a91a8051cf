// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// The keychain as a command asks it: whatever it refuses becomes an explanation.
struct Keychain {
    /// nil is the login keychain.
    let name: String?
    let asJSON: Bool

    /// `task` completes "could not …".
    @discardableResult
    func ask(_ request: Request, to task: String) throws(CommandFailure) -> Answer {
        do throws(Refusal) {
            return try KeychainEndpointChoice.current().answer(request)
        } catch {
            throw failure(
                CommandFailure(error, task, keychain: name, because: rulesOfLastRefusal))
        }
    }

    private var rulesOfLastRefusal: [String] {
        (try? KeychainEndpointChoice.current())?.rulesOfLastRefusal ?? []
    }

    func status() throws(CommandFailure) -> ServiceStatus {
        guard let status = try ask(.status, to: "learn how the keychains stand").status else {
            throw failure(
                CommandFailure(.internalError, "learn how the keychains stand", keychain: name))
        }
        return status
    }

    /// The failure in the form that was asked for.
    func failure(_ failure: CommandFailure) -> CommandFailure {
        var failure = failure
        failure.asJSON = asJSON
        return failure
    }
}
