// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// Everything a program can ask of the keychain.
package enum Request: Sendable {
    case add(NewItem, secret: HeldSecret?, returning: ItemQuery.Parts)
    case copyMatching(ItemQuery)
    case update(ItemQuery, ItemChange, secret: HeldSecret?)
    case delete(ItemQuery)
    case status
    /// `recoveryKey`: the text of one that opens it too.
    case createKeychain(name: String, password: HeldSecret?, recoveryKey: HeldSecret? = nil)
    case unlock(keychain: String?, password: HeldSecret)
    case lock(keychain: String?)
    /// What closes the keychain besides; loosening it asks the user.
    case changeSettings(keychain: String?, KeychainSettingsChange)
    case setPassword(keychain: String?, old: HeldSecret?, new: HeldSecret)
    /// Asks the user for what meets the constraint, in the name of the request's context.
    case authenticate(Constraint)
    case capabilities
    /// What was proven in the request's context is forgotten.
    case endContext
    /// What policies are in force; `reload` reads them again first, and is root's to ask for.
    case policies(reload: Bool)
    case protectors(ProtectorRequest)
    case safekeeping(keychain: String?, Safekeeping)
    /// Which keychains are meant where none is named; nil asks, and changes nothing.
    case preferences(KeychainPreferencesChange?)

    /// Bytes of one item's secret.
    package static let largestSecret = 32 * 1024 * 1024
    /// Bytes of a password.
    package static let longestPassword = 1024
}

/// What comes back when nothing was refused.
package struct Answer: Sendable {
    package var items: [AnsweredItem] = []
    package var status: ServiceStatus?
    package var capabilities: Capabilities?
    /// Lines for people.
    package var report: String?
    package var protectors: [Protector] = []
    package var safekept: Safekept?
    package var preferences: KeychainPreferences?
    /// How many items were changed or deleted.
    package var count = 0

    package init() {}
}

/// An item of an answer with its secret, where that was asked for and the item has one.
package struct AnsweredItem: Sendable {
    package let item: FoundItem
    package let secret: HeldSecret?

    package init(item: FoundItem, secret: HeldSecret?) {
        self.item = item
        self.secret = secret
    }
}

/// Answers requests: the daemon seen from a program, or the service in the own process.
package protocol KeychainEndpoint: Sendable {
    func answer(
        _ request: Request, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(Refusal) -> Answer
    /// The rules of the policy that the last refusal came from, with their places; for programs
    /// that ask for one thing at a time and explain it to people.
    var rulesOfLastRefusal: [String] { get }
}

extension KeychainEndpoint {
    package var rulesOfLastRefusal: [String] { [] }

    /// An application password of the context's that turns out to be wrong is taken out of it, and
    /// the request made once more: the user is asked for it, or it is refused as without one.
    package func answer(
        _ request: Request, in context: AuthenticationContext? = nil
    ) throws(Refusal) -> Answer {
        let password = context?.applicationPassword
        do throws(Refusal) {
            return try answer(request, in: context, cancellation: nil)
        } catch {
            guard error == .wrongApplicationPassword, let context, let password else { throw error }
            context.remove(wrong: password)
        }
        return try answer(request, in: context, cancellation: nil)
    }
}
