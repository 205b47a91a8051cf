// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// What a dictionary says of how a call goes about its work (`kSecUse…`).
struct UseWords {
    private(set) var authenticationUI = ItemQuery.AuthenticationUI.allow
    /// The asking program's own words for the user.
    private(set) var reason: String?
    private(set) var hasItemList = false

    init(_ words: [QueryWords.UseKey: QueryValue]) throws(Refusal) {
        // A context holds what was proven already. None can be made yet, so that whatever is given
        // as one is none.
        if words[.authenticationContext] != nil || words[.credentialReference] != nil {
            throw .badRequest
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
