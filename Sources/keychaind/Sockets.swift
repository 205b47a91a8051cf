// SPDX-License-Identifier: Apache-2.0
internal import KeychainLocalSocket

/// The three sockets, from systemd where it made them, else our own.
struct Sockets {
    /// What systemd's units call the socket of logins.
    static let ofLogins = "login"

    let requests: Listener
    let logins: Listener
    let offers: Listener
    static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// `inherited` is what systemd passed, by name.
    init(
        requests: String, logins: String, inherited: [(name: String, descriptor: Int32)]
    ) throws(StartError) {
        func listener(_ name: String, _ path: String, mode: UInt32) throws(StartError) -> Listener {
            if let found = inherited.first(where: { $0.name == name }) {
                return Listener(inherited: found.descriptor)
            }
            do { return try Listener(path: path, mode: mode) } catch {
                throw .listening(on: path, error)
            }
        }
        self.requests = try listener("keychain", requests, mode: 0o666)
        self.logins = try listener(Self.ofLogins, logins, mode: 0o600)
        self.offers = try listener("offer", Self.folder(of: logins) + "/offer.sock", mode: 0o666)
    }
}
