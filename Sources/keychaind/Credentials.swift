// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// What systemd gave the service (`LoadCredentialEncrypted=keychain.NAME:…`), read once at the start.
enum Credentials {
    private static let prefix = "keychain."
    private static let longest = 4096
    private static let most = 16

    /// By name, without the prefix. A file that is not root's alone is none.
    static func given() -> [String: HeldSecret] {
        guard let folder = ProcessEnvironment["CREDENTIALS_DIRECTORY"],
            folder.hasPrefix("/")
        else { return [:] }
        var found: [String: HeldSecret] = [:]
        for file in FolderNames.all(in: folder).sorted().filter({ $0.hasPrefix(prefix) }).prefix(
            most)
        {
            guard let secret = try? PrivateFile.read(folder + "/" + file, limit: longest) else {
                continue
            }
            found[String(file.dropFirst(prefix.count))] = HeldSecret(secret)
        }
        return found
    }
}
