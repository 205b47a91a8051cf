// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The path of the daemon's socket for this process.
package enum DaemonSocket {
    private static let systemFolder = "/etc/keychain"

    /// nil in embedded mode. There is no silent downgrade: where the system package is installed
    /// and the daemon does not run, no keychain is available.
    package static var ofThisProcess: String? {
        if ProcessEnvironment["KEYCHAIN_HOME"] != nil { return nil }
        if let named = ProcessEnvironment["KEYCHAIN_SOCKET"] { return named }
        return FileIdentity(systemFolder) != nil ? RemoteKeychain.defaultSocket : nil
    }
}
