// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// Opens the login keychain with a password from standard input, and makes it with that password
/// where there is none: as programs do that begin a session in a container.
struct FirstUnlock {
    private static let login = "login"

    private let keychain: any KeychainEndpoint

    init(_ keychain: any KeychainEndpoint) { self.keychain = keychain }

    func run() throws(RequestError) {
        guard let line = try? InputLines.secretLine() else { throw .refused(.wrongPassword) }
        let password = HeldSecret(line)
        do throws(RequestError) {
            _ = try keychain.send(CreateKeychain(name: Self.login, password: password))
            return
        } catch { guard error == .state(.duplicateKeychain) else { throw error } }
        do throws(RequestError) {
            _ = try keychain.send(Unlock(keychain: Self.login, password: password))
        } catch {
            // One without a password is open.
            guard error == .state(.passcodeNotSet) else { throw error }
        }
    }
}
