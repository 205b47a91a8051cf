// SPDX-License-Identifier: Apache-2.0
public import KeychainModel
public import Secrets

/// Everything a program can ask of the keychain.
public enum Request: Sendable {
    case add(NewItem, secret: HeldSecret?, returning: ItemQuery.Parts)
    case copyMatching(ItemQuery)
    case update(ItemQuery, ItemChange, secret: HeldSecret?)
    case delete(ItemQuery)
    case status
    case createKeychain(name: String, password: HeldSecret?)
    case unlock(keychain: String?, password: HeldSecret)
    case lock(keychain: String?)
    case setPassword(keychain: String?, old: HeldSecret?, new: HeldSecret)

    /// Bytes of one item's secret.
    public static let largestSecret = 32 * 1024 * 1024
    /// Bytes of a password.
    public static let longestPassword = 1024
}

/// What comes back when nothing was refused.
public struct Answer: Sendable {
    public var items: [AnsweredItem] = []
    public var status: ServiceStatus?
    /// How many items were changed or deleted.
    public var count = 0

    public init() {}
}

/// An item of an answer with its secret, where that was asked for and the item has one.
public struct AnsweredItem: Sendable {
    public let item: FoundItem
    public let secret: HeldSecret?

    public init(item: FoundItem, secret: HeldSecret?) {
        self.item = item
        self.secret = secret
    }
}

/// Whoever answers requests: the daemon seen from a program, or the service in the own process.
public protocol KeychainEndpoint: Sendable {
    func answer(_ request: Request) throws(Refusal) -> Answer
}
