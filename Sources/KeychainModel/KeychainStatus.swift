// SPDX-License-Identifier: Apache-2.0

/// The status of one keychain, for people.
public struct KeychainStatus: Sendable, Equatable {
    public enum LockState: UInt8, Sendable {
        /// Never unlocked since boot.
        case locked = 0
        /// Unlocked before: after-first-unlock items open, when-unlocked items don't.
        case lockedAfterFirstUnlock = 1
        case unlocked = 2
    }

    public var name: String
    public var path: String
    public var lockState: LockState
    public var isPasswordProtected: Bool
    /// Made by a first login; the device key opens it too until a second login has.
    public var isProvisional = false
    /// A new password opens it beside the old one, until a login has proved the new one.
    public var hasPendingPassword = false
    /// Why it is locked although the user logged in, if the service knows.
    public var lockReason: LockReason
    public var itemCount: Int
    /// Records that did not open, since the file was opened.
    public var damagedItems = 0
    /// Records that were set aside within the file.
    public var quarantinedItems = 0
    /// Set where the file can't be opened.
    public var problem: RequestError?
    /// Names of files that remain of an earlier keychain whose own file is gone.
    public var remains: [String] = []
    /// When it locks by itself, within the administrator's bounds; nil where only its user locks
    /// it.
    public var settings: KeychainSettings?
    /// The keychain's label for people; nil where it has none.
    public var label: String?
    /// When the file was made and last written to: seconds since 1970, 0 where unknown.
    public var created: UInt64 = 0
    public var modified: UInt64 = 0

    public init(
        name: String, path: String, lockState: LockState, isPasswordProtected: Bool,
        lockReason: LockReason, itemCount: Int, problem: RequestError?,
        settings: KeychainSettings? = nil
    ) {
        self.name = name
        self.path = path
        self.lockState = lockState
        self.isPasswordProtected = isPasswordProtected
        self.lockReason = lockReason
        self.itemCount = itemCount
        self.problem = problem
        self.settings = settings
    }
}

/// Why a login did not unlock its keychain, or why it was locked again.
public enum LockReason: UInt8, Sendable {
    case none = 0
    /// The login carried no password: public key, keyboard-interactive, fingerprint, autologin.
    case loginWithoutPassword = 1
    /// The login's password does not open the keychain.
    case passwordDiffers = 2
    /// No login session of this user is known.
    case noSession = 3
    case lockedByUser = 4
    case screenLocked = 5
    /// The machine went to sleep.
    case slept = 6
    /// The keychain was idle, or was open, for as long as its settings allow.
    case timedOut = 7
}

/// The status of the service, for people.
public struct ServiceStatus: Sendable, Equatable {
    public enum Mode: UInt8, Sendable { case daemon = 0, embedded = 1 }

    public var mode: Mode
    public var keychains: [KeychainStatus]
    /// The caller's own application identifier, nil when it could not be established.
    public var callerIdentifier: String?
    /// Whether the caller's login session is known.
    public var hasSession: Bool
    public var hasPrompter: Bool
    /// False where the kernel refuses to lock memory.
    public var locksMemory: Bool
    /// False where keyring calls are refused.
    public var usesKernelKeyring: Bool
    /// Whether always-accessible items are on the disk beside the key that opens them.
    public var deviceKeyOnDisk: Bool
    /// nil where no daemon stores class keys in root's keyring.
    public var vaultKeyPlace: VaultKeyPlace?

    /// Where the key that seals class keys in the kernel's keyring is stored.
    public enum VaultKeyPlace: UInt8, Sendable {
        /// In the service manager's descriptor store: reading it needs the right to trace.
        case descriptorStore = 1
        /// In a file of root's, which any process of uid 0 can open, whatever its capabilities.
        case file = 2
    }

    public init(
        mode: Mode, keychains: [KeychainStatus], callerIdentifier: String?, hasSession: Bool,
        hasPrompter: Bool, locksMemory: Bool, usesKernelKeyring: Bool, deviceKeyOnDisk: Bool,
        vaultKeyPlace: VaultKeyPlace? = nil
    ) {
        self.mode = mode
        self.keychains = keychains
        self.callerIdentifier = callerIdentifier
        self.hasSession = hasSession
        self.hasPrompter = hasPrompter
        self.locksMemory = locksMemory
        self.usesKernelKeyring = usesKernelKeyring
        self.deviceKeyOnDisk = deviceKeyOnDisk
        self.vaultKeyPlace = vaultKeyPlace
    }
}
