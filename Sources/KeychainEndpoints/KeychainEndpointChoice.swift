// SPDX-License-Identifier: Apache-2.0
internal import Foundation
@_implementationOnly import KeychainDaemonClient
@_implementationOnly import KeychainEmbedded
package import KeychainMessages
package import KeychainModel
@_implementationOnly import KeychainRequestService
@_implementationOnly import KeychainLinuxSystem
internal import Synchronization

/// Which keychain this process talks to: the daemon, or its own files. Never a silent downgrade:
/// where the system package is installed and the daemon is not there, nothing is available.
package enum KeychainEndpointChoice {
    private static let systemFolder = "/etc/keychain"
    private static let chosen = Mutex<(any KeychainEndpoint)?>(nil)

    /// The endpoint of this process, chosen once.
    package static func current() throws(Refusal) -> any KeychainEndpoint {
        if let endpoint = chosen.withLock({ $0 }) { return endpoint }
        let endpoint = try choose()
        return chosen.withLock { kept in
            if let kept { return kept }
            kept = endpoint
            return endpoint
        }
    }

    /// The daemon's socket, nil in embedded mode.
    package static var daemonSocket: String? {
        if variable("KEYCHAIN_HOME") != nil { return nil }
        if let named = variable("KEYCHAIN_SOCKET") { return named }
        return FileManager.default.fileExists(atPath: systemFolder)
            ? RemoteKeychain.defaultSocket : nil
    }

    private static func choose() throws(Refusal) -> any KeychainEndpoint {
        if let socket = daemonSocket { return RemoteKeychain(socket: socket) }
        return try EmbeddedKeychain(home: embeddedHome, groups: embeddedGroups)
    }

    private static var embeddedHome: String {
        if let named = variable("KEYCHAIN_HOME") { return named }
        if let data = variable("XDG_DATA_HOME") { return data + "/keychain" }
        // The account database’s word alone would be another home than the rest of the session’s.
        return (variable("HOME") ?? NSHomeDirectory()) + "/.local/share/keychain"
    }

    private static var embeddedGroups: [String] {
        (variable("KEYCHAIN_ACCESS_GROUPS") ?? "").split(separator: ",").map(String.init)
    }

    /// Nothing from the environment of a program with more rights than its user.
    private static func variable(_ name: String) -> String? {
        guard !ProcessHardening.runsWithForeignRights,
            let value = ProcessInfo.processInfo.environment[name], !value.isEmpty
        else { return nil }
        return value
    }
}
