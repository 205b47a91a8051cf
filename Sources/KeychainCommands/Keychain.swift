// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
internal import KeychainModel

/// The keychain as a command asks it: whatever it refuses becomes an explanation.
package struct Keychain {
    /// nil is the login keychain.
    let name: String?
    let asJSON: Bool

    package init(name: String?, asJSON: Bool) {
        self.name = name
        self.asJSON = asJSON
    }

    /// `task` completes "could not …".
    @discardableResult
    package func ask<V: Verb>(_ verb: V, to task: String) throws(CommandFailure) -> V.Answer {
        do throws(RequestError) {
            return try CommandProgram.endpoint().send(verb)
        } catch {
            let isOfItems = verb is any VerbOnItems && name == nil
            let meant = error == .state(.locked) && isOfItems ? lockedOne() : name
            throw failure(
                CommandFailure(error, task, keychain: meant, because: rulesOfLastRefusal))
        }
    }

    /// Of those that a call without a name may mean, the first that is locked.
    private func lockedOne() -> String? {
        guard let endpoint = try? CommandProgram.endpoint(),
            let preferences = try? endpoint.send(Preferences(nil)),
            let status = try? endpoint.send(Status())
        else { return nil }
        let locked = status.keychains.filter { $0.lockState != .unlocked }.map(\.name)
        let meant = [preferences.defaultKeychain].compactMap { $0 } + preferences.searchList
        return meant.map(\.description).first(where: locked.contains)
    }

    private var rulesOfLastRefusal: [String] {
        (try? CommandProgram.endpoint())?.rulesOfLastRefusal ?? []
    }

    func status() throws(CommandFailure) -> ServiceStatus {
        try ask(Status(), to: "learn how the keychains stand")
    }

    /// The failure in the form that was asked for.
    func failure(_ failure: CommandFailure) -> CommandFailure {
        var failure = failure
        failure.asJSON = asJSON
        return failure
    }
}

/// A verb of which the user's default keychain and search list say what is meant where nothing is
/// named.
private protocol VerbOnItems {}
extension Add: VerbOnItems {}
extension CopyMatching: VerbOnItems {}
extension Update: VerbOnItems {}
extension Delete: VerbOnItems {}
