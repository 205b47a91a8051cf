// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// The parameters for the way in which a call works (`kSecUse…`).
struct UseParameters {
    /// The program's reason, which is shown where the user is asked.
    private(set) var reason: String?
    private(set) var hasItemList = false
    /// The name of the one keychain that the call uses.
    private(set) var keychain: String?
    private var chosenUI = ItemQuery.AuthenticationUI.allow
    private var forbidsUI = false
    private var carrier: (any AuthenticationContextCarrier)?

    /// The stricter of the two keys counts: the older one must not allow what the newer one
    /// forbids, nor the other way round.
    var authenticationUI: ItemQuery.AuthenticationUI {
        forbidsUI && chosenUI == .allow ? .fail : chosenUI
    }

    /// The context with proofs made before, and proofs that may be made again.
    func context() throws(RequestError) -> CallContext? { try carrier.map(CallContext.init(_:)) }

    mutating func add(
        _ key: QueryParameters.UseKey, _ value: QueryValue
    ) throws(RequestError) {
        switch (key, value) {
        case (.authenticationContext, .context(let carrier)): self.carrier = carrier
        case (.keychain, .keychain(let named)): keychain = named.name
        case (.itemList, _): hasItemList = true
        case (.operationPrompt, .string(let text)): reason = text
        case (.authenticationUI, .string("u_AuthUIA")): chosenUI = .allow
        case (.authenticationUI, .string("u_AuthUIF")): chosenUI = .fail
        case (.authenticationUI, .string("u_AuthUIS")): chosenUI = .skip
        case (.noAuthenticationUI, .boolean(let isForbidden)): forbidsUI = isForbidden
        case (.operationPrompt, _), (.tombstones, _), (.callerName, _), (.systemKeychain, _),
            (.systemKeychainAlways, _), (.userIndependentKeychain, _):
            break
        // A credential reference is a context in the form of another system.
        case (.credentialReference, _), (.authenticationContext, _), (.keychain, _),
            (.authenticationUI, _), (.noAuthenticationUI, _):
            throw .invalid(.badRequest)
        }
    }
}
