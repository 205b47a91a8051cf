// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel

/// The shared state of the commands of one run: the keychain's endpoint, and the output.
package final class Session {
    package typealias Endpoint = () -> Result<any KeychainEndpoint, RequestError>

    private let open: Endpoint
    private var opened: (any KeychainEndpoint)?
    private var paths: [String: String] = [:]
    var output = Output()

    package init(asking open: @escaping Endpoint) { self.open = open }

    func send<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        if let opened { return try opened.send(verb) }
        let endpoint = try open().get()
        opened = endpoint
        return try endpoint.send(verb)
    }

    func keychains() throws(RequestError) -> [KeychainStatus] { try send(Status()).keychains }

    func preferences() throws(RequestError) -> KeychainPreferences { try send(Preferences(nil)) }

    /// The keychain's state; the default keychain's where no name is given.
    func state(of name: String?) throws(RequestError) -> KeychainStatus {
        let name = try self.name(name)
        guard let state = try keychains().first(where: { $0.name == name }) else {
            throw .state(.noSuchKeychain)
        }
        if let problem = state.problem { throw problem }
        return state
    }

    func name(_ name: String?) throws(RequestError) -> String {
        if let name { return name }
        guard let byDefault = try preferences().defaultKeychain else {
            throw .state(.noDefaultKeychain)
        }
        return byDefault.description
    }

    /// The path of a keychain's file; its name where the service does not tell.
    func path(of name: String) -> String {
        if let path = paths[name] { return path }
        for state in (try? keychains()) ?? [] { paths[state.name] = state.path }
        return paths[name] ?? name
    }
}
