// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Where this process finds the daemon.
package enum DaemonSocket {
    private static let systemFolder = "/etc/keychain"

    /// nil in embedded mode. Never a silent downgrade: where the system package is installed and the
    /// daemon is not there, nothing is available.
    package static var ofThisProcess: String? {
        if ProcessEnvironment["KEYCHAIN_HOME"] != nil { return nil }
        if let named = ProcessEnvironment["KEYCHAIN_SOCKET"] { return named }
        return FileIdentity(systemFolder) != nil ? RemoteKeychain.defaultSocket : nil
    }
}
