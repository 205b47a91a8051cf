// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The secrets of several names: all, or none. What the user proves for one of them serves the
/// others.
struct NamedSecrets {
    private let keychain: Keychain
    private let mayAsk: Bool
    private let task: String
    private var known: [String: HeldSecret] = [:]

    /// `task` completes "could not …".
    init(in keychain: String?, mayAsk: Bool, to task: String) {
        self.keychain = Keychain(name: keychain, asJSON: false, context: AuthenticationContext())
        self.mayAsk = mayAsk
        self.task = task
    }

    /// Each item is read once.
    mutating func secret(_ name: String) throws(CommandFailure) -> HeldSecret {
        if let secret = known[name] { return secret }
        let items = NamedItems(
            name: ItemName(name), kind: nil,
            wanted: WantedItems(keychain: keychain.name, mayAsk: mayAsk))
        let item = try items.one(.data, from: keychain, to: task)
        guard let secret = item.secret else {
            throw CommandFailure(
                .failure, name: "noSecret", "could not \(task): “\(name)” has no secret")
        }
        known[name] = secret
        return secret
    }
}
