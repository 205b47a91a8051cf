// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// What a dictionary says of how a call goes about its work (`kSecUse…`).
struct UseWords {
    private(set) var authenticationUI = ItemQuery.AuthenticationUI.allow
    /// The asking program's own words for the user.
    private(set) var reason: String?
    private(set) var hasItemList = false
    /// The name of the one keychain that the call means.
    private(set) var keychain: String?
    /// What was proven already, and proofs that may be needed once more.
    private(set) var context: AuthenticationContext?

    init(_ words: [QueryWords.UseKey: QueryValue]) throws(Refusal) {
        // The one is a context in another form, of a system that is not this.
        if words[.credentialReference] != nil { throw .badRequest }
        if let value = words[.authenticationContext] {
            guard case .context(let carrier) = value else { throw .badRequest }
            // In a context that has ended nothing can be proven, nor was anything.
            guard let authentication = carrier.authentication else { throw .authenticationFailed }
            context = authentication
        }
        if let value = words[.keychain] {
            guard case .keychain(let named) = value else { throw .badRequest }
            keychain = named.name
        }
        hasItemList = words[.itemList] != nil
        if case .string(let text)? = words[.operationPrompt] { reason = text }
        if let value = words[.authenticationUI] { authenticationUI = try Self.ui(value) }
        if let value = words[.noAuthenticationUI] {
            guard case .boolean(let isForbidden) = value else { throw .badRequest }
            // The older key must not let in what the newer one keeps out, nor the other way round.
            if isForbidden, authenticationUI == .allow { authenticationUI = .fail }
        }
    }

    private static func ui(_ value: QueryValue) throws(Refusal) -> ItemQuery.AuthenticationUI {
        switch value {
        case .string("u_AuthUIA"): .allow
        case .string("u_AuthUIF"): .fail
        case .string("u_AuthUIS"): .skip
        default: throw .badRequest
        }
    }
}
