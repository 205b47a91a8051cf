// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// The service's requests for the older calls about whole keychains.
enum UserKeychains {
    static func ask(_ verb: some Verb) -> OSStatus {
        do throws(RequestError) {
            _ = try KeychainEndpointChoice.current().send(verb)
            return errSecSuccess
        } catch { return error.status }
    }

    /// The user's preferences for calls that name no keychain, or the defaults where the user has
    /// set none.
    static func preferences() throws(RequestError) -> KeychainPreferences {
        try KeychainEndpointChoice.current().send(Preferences(nil))
    }

    static func byDefault() throws(RequestError) -> KeychainName {
        guard let name = try preferences().defaultKeychain else { throw .state(.noDefaultKeychain) }
        return name
    }

    /// The keychain's name; the default keychain's where the caller names none.
    static func name(_ keychain: SecKeychain?) throws(RequestError) -> String {
        guard let keychain else { return try byDefault().description }
        return keychain.name
    }

    /// The status of each of the user's keychains.
    static func all() throws(RequestError) -> [KeychainStatus] {
        try KeychainEndpointChoice.current().send(Status()).keychains
    }

    static func state(of keychain: SecKeychain?) throws(RequestError) -> KeychainStatus {
        let name = try name(keychain)
        guard let state = try all().first(where: { $0.name == name }) else {
            throw .state(.noSuchKeychain)
        }
        if let problem = state.problem { throw problem }
        return state
    }
}
