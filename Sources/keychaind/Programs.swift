// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The programs of the same installation that keychaind needs. keychain-starter looks
/// at those that it starts by itself.
struct Programs {
    /// Starts what works for the daemon. Where no service manager runs it, the daemon does.
    let starter: String
    /// Looks at other users' processes.
    let broker: String
    /// Keeps the audit's files.
    let audit: String
    /// Serves a user.
    let worker: String
    /// Whether it is installed: a machine without a TPM can do without its library.
    let hasTPM: Bool
    /// The same of libfido2.
    let hasSecurityKeys: Bool
    /// The folder of the policies that come with the package.
    let policies: String

    init() throws(StartError) {
        for name in ["keychain-auth", "keychain-import", "keychain-prompter", "keychainctl-policy"]
        {
            _ = try Self.installed("../libexec/keychain/" + name)
        }
        starter = try Self.installed("../libexec/keychain/keychain-starter")
        broker = try Self.installed("../libexec/keychain/keychain-broker")
        audit = try Self.installed("../libexec/keychain/keychain-audit")
        worker = try Self.installed("../libexec/keychain/keychain-worker")
        hasTPM = (try? Self.installed("../libexec/keychain/keychain-tpm")) != nil
        hasSecurityKeys = (try? Self.installed("../libexec/keychain/keychain-fido")) != nil
        policies =
            InstalledProgram.sibling("../share/keychain/policies.d")
            ?? "/usr/share/keychain/policies.d"
    }

    private static func installed(_ relative: String) throws(StartError) -> String {
        guard let path = InstalledProgram.sibling(relative), InstalledProgram.isTrusted(path)
        else { throw .programMissing(InstalledProgram.sibling(relative) ?? relative) }
        return path
    }
}
