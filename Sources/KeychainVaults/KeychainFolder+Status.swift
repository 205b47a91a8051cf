// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainItemStore
internal import KeychainLinuxSystem

extension KeychainFolder {
    /// The status of the machine's keychain as a caller hears it for whom it is not looked at: a
    /// user who can do nothing with it need not know how it is.
    package var statusOfUnseenSystem: KeychainStatus {
        KeychainStatus(
            name: KeychainName.system.description, path: filePath(.system, 0),
            lockState: .unlocked, isPasswordProtected: false, lockReason: .none, itemCount: 0,
            problem: nil)
    }

    /// The keychain's status, as far as the caller may know it.
    package func status(
        of name: KeychainName, for caller: Caller, _ vault: any KeyVault
    ) -> KeychainStatus {
        var status = KeychainStatus(
            name: name.description,
            path: filePath(name, name == .system ? 0 : caller.user), lockState: .locked,
            isPasswordProtected: false, lockReason: .none, itemCount: 0, problem: nil)
        do throws(RequestError) {
            let keychain = try keychain(name.description, of: caller.user)
            if keychain.isSystem {
                // The keychain opens by itself, or can't be opened.
                _ = try vault.keys(of: keychain)
                status.lockState = .unlocked
                // Only root may know the contents of the machine's keychain.
                guard caller.user == 0 else { return status }
            } else {
                status.lockState = vault.lockState(of: keychain)
            }
            if status.lockState != .unlocked {
                status.lockReason = vault.lockReason(of: keychain, for: caller)
            }
            do {
                status.isPasswordProtected = try keychain.file.isPasswordProtected()
                let states = try keychain.file.protectors().map(\.state)
                status.isProvisional = states.contains(.provisional)
                status.hasPendingPassword = states.contains { $0 == .pending || $0 == .adopted }
                status.label = try keychain.file.label()
                status.created = FileStatus.made(status.path) ?? 0
                status.modified = Self.modified(status.path)
                status.itemCount = try keychain.file.itemCount()
                status.damagedItems = keychain.file.corruptItemCount
                status.quarantinedItems = try keychain.file.quarantinedCount()
                if !keychain.isSystem {
                    status.settings = vault.inForce(try keychain.file.unverifiedSettings())
                }
            } catch { throw RequestError(error) }
        } catch {
            status.problem = error
            // Only root may know of the services in the machine's keychain.
            if error == .failed(.keychainGone), name != .system || caller.user == 0 {
                status.remains = (try? KeychainRemains(of: status.path).all) ?? []
            }
        }
        return status
    }

    /// The later change of file and log, as SQLite writes to the log first and to the file some
    /// time later.
    private static func modified(_ path: String) -> UInt64 {
        let changes = [path, path + "-wal"].compactMap { FileStatus($0)?.changed }
        return UInt64(clamping: changes.max()?.components.seconds ?? 0)
    }
}
