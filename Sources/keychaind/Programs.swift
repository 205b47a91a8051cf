// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The programs of the same installation that the daemon starts or trusts.
struct Programs {
    /// Starts what asks PAM.
    let starter: String
    /// Keeps the audit's files.
    let audit: String
    let prompter: String
    /// Asks for programs of the user's bus. Where it is not installed, none does.
    let deputy: String
    /// Reads keychain files from elsewhere.
    let importer: String
    /// Compiles policies.
    let policyCompiler: String
    /// nil where it is not installed: a machine without a TPM can do without its library.
    let tpm: String?
    /// The same of libfido2.
    let securityKeys: String?
    /// The folder of the policies that come with the package.
    let policies: String

    init() throws(StartError) {
        _ = try Self.installed("../libexec/keychain/keychain-auth")
        starter = try Self.installed("../libexec/keychain/keychain-starter")
        audit = try Self.installed("../libexec/keychain/keychain-audit")
        prompter = try Self.installed("../libexec/keychain/keychain-prompter")
        deputy =
            InstalledProgram.sibling("../libexec/keychain/keychain-secrets")
            ?? "/usr/libexec/keychain/keychain-secrets"
        tpm = try? Self.installed("../libexec/keychain/keychain-tpm")
        securityKeys = try? Self.installed("../libexec/keychain/keychain-fido")
        importer = try Self.installed("../libexec/keychain/keychain-import")
        policyCompiler = try Self.installed("../libexec/keychain/keychainctl-policy")
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
