// SPDX-License-Identifier: Apache-2.0
// Statuses, and the flags of access controls, are Security's.
public import LocalAuthentication
@_exported public import Security

/// The values that a program stores for one service: one for each account.
///
/// ```swift
/// let mail = Keychain(service: "mail.example.com")
/// try await mail.set("tr0ub4dor", for: "joe")
/// let password: String? = try await mail.find("joe")
/// ```
///
/// The items are generic passwords, the same ones that `SecItemAdd` and the other calls access with
/// the same `kSecAttrService` and `kSecAttrAccount`. No call blocks a thread that Swift's tasks run
/// on.
public struct Keychain: Sendable {
    public let service: String
    /// One of the program's access groups. nil searches all of them, and adds new items to the
    /// first.
    public let accessGroup: String?
    /// The protection of the items that this keychain adds.
    public let protection: Protection
    /// The reason shown to the user in a question before an item is opened.
    public let prompt: String?
    /// The user's proofs in it count for later calls too, and its application password opens the
    /// items that were added with it. With nil, each call asks by itself.
    public let context: LAContext?

    public init(
        service: String, accessGroup: String? = nil,
        protection: Protection = .accessible(.whenUnlocked), prompt: String? = nil,
        context: LAContext? = nil
    ) {
        self.service = service
        self.accessGroup = accessGroup
        self.protection = protection
        self.prompt = prompt
        self.context = context
    }
}
