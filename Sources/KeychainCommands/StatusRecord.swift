// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The status as `--json` shows it. The names of its keys are fixed: scripts depend on them.
struct StatusRecord: Encodable {
    struct Keychain: Encodable {
        let name: String
        let path: String
        /// `unlocked`, `locked` or `lockedAfterFirstUnlock`.
        let state: String
        /// Why it is locked, where the service knows.
        let reason: String?
        let protectedByPassword: Bool
        /// Made by a first login, and not opened by a second one yet.
        let provisional: Bool
        /// A new password waits for a login that proves it.
        let pendingPassword: Bool
        let items: Int
        /// Records that did not open although their key was there.
        let damaged: Int
        /// Damaged records that were set aside.
        let setAside: Int
        /// Why its file can't be opened.
        let problem: String?
        /// Files of an earlier one that lie there, where its own is gone.
        let remains: [String]?
        /// What closes it; absent where nothing does.
        let settings: SettingsRecord?
    }

    let mode: String
    let socket: String?
    let program: String?
    let hasSession: Bool
    let hasPrompter: Bool
    let locksMemory: Bool
    let usesKernelKeyring: Bool
    let deviceKeyOnDisk: Bool
    /// `descriptorStore` or `file`; absent where there is no service.
    let vaultKey: String?
    let keychains: [Keychain]

    init(_ status: ServiceStatus, socket: String?) {
        mode = "\(status.mode)"
        self.socket = socket
        program = status.callerIdentifier
        hasSession = status.hasSession
        hasPrompter = status.hasPrompter
        locksMemory = status.locksMemory
        usesKernelKeyring = status.usesKernelKeyring
        deviceKeyOnDisk = status.deviceKeyOnDisk
        vaultKey = status.vaultKeyPlace.map { "\($0)" }
        keychains = status.keychains.map {
            Keychain(
                name: $0.name, path: $0.path, state: "\($0.lockState)",
                reason: $0.lockReason == .none ? nil : "\($0.lockReason)",
                protectedByPassword: $0.isPasswordProtected, provisional: $0.isProvisional,
                pendingPassword: $0.hasPendingPassword, items: $0.itemCount,
                damaged: $0.damagedItems, setAside: $0.quarantinedItems,
                problem: $0.problem.map { "\($0)" },
                remains: $0.remains.isEmpty ? nil : $0.remains,
                settings: $0.settings.map(SettingsRecord.init))
        }
    }
}
