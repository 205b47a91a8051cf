// SPDX-License-Identifier: Apache-2.0
@_implementationOnly import KeychainDaemonClient
@_implementationOnly import KeychainEmbedded
package import KeychainMessages
package import KeychainModel
@_implementationOnly import KeychainRequestService
@_implementationOnly import KeychainLinuxSystem
internal import Synchronization

/// The keychain of this process: the daemon, or its own files. It is never downgraded silently:
/// where the system package is installed and the daemon is absent, no keychain is available.
package enum KeychainEndpointChoice {
    private static let chosen = Mutex<(any KeychainEndpoint)?>(nil)

    /// The endpoint of this process, chosen once.
    package static func current() throws(RequestError) -> any KeychainEndpoint {
        if let endpoint = chosen.withLock({ $0 }) { return endpoint }
        let endpoint = try choose()
        return chosen.withLock { kept in
            if let kept { return kept }
            kept = endpoint
            return endpoint
        }
    }

    private static func choose() throws(RequestError) -> any KeychainEndpoint {
        if let socket = DaemonSocket.ofThisProcess { return RemoteKeychain(socket: socket) }
        return try embedded(as: nil)
    }

    /// The user's own files, for this program or the one that it became by exec.
    package static func embedded(as program: String?) throws(RequestError) -> any KeychainEndpoint {
        try EmbeddedKeychain(home: embeddedHome, groups: embeddedGroups, program: program)
    }

    private static var embeddedHome: String {
        if let named = ProcessEnvironment["KEYCHAIN_HOME"] { return named }
        if let data = ProcessEnvironment["XDG_DATA_HOME"] { return data + "/keychain" }
        // The account database alone could give another home than the rest of the session uses.
        return (ProcessEnvironment["HOME"] ?? UserAccount.own?.home ?? "/")
            + "/.local/share/keychain"
    }

    private static var embeddedGroups: [String] {
        (ProcessEnvironment["KEYCHAIN_ACCESS_GROUPS"] ?? "").split(separator: ",").map(String.init)
    }
}
