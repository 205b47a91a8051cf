// SPDX-License-Identifier: Apache-2.0

/// How one keychain stands, for people.
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
    /// Made by a first login; the device's key opens it too until a second one has.
    public var isProvisional = false
    /// A new password opens it beside the old one, until a login has proved it.
    public var hasPendingPassword = false
    /// Why it is locked although the user logged in, where the service knows.
    public var lockReason: LockReason
    public var itemCount: Int
    /// Records that were met and did not open, since the file was opened.
    public var damagedItems = 0
    /// Records that were set aside within the file.
    public var quarantinedItems = 0
    /// Set where the file can't be opened.
    public var problem: RequestError?
    /// Names of files of an earlier one that lie there, where its own is gone.
    public var remains: [String] = []
    /// What closes it, the administrator's bounds counted; nil where nothing but its user does.
    public var settings: KeychainSettings?
    /// What people call it; nil where nothing was said.
    public var label: String?
    /// When its file was made, and when something was last written into it: seconds since 1970, 0 where
    /// that can't be told.
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

/// What kept a login from unlocking its keychain, or closed it again.
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
    /// It was not used for as long, or has been open for as long, as its settings allow.
    case timedOut = 7
}

/// How the service stands, for people.
public struct ServiceStatus: Sendable, Equatable {
    public enum Mode: UInt8, Sendable { case daemon = 0, embedded = 1 }

    public var mode: Mode
    public var keychains: [KeychainStatus]
    /// The caller's own application identifier, nil when it could not be established.
    public var callerIdentifier: String?
    /// Whether the login session of the caller is known.
    public var hasSession: Bool
    public var hasPrompter: Bool
    /// False where the kernel refuses to lock memory.
    public var locksMemory: Bool
    /// False where keyring calls are refused.
    public var usesKernelKeyring: Bool
    /// Whether always-accessible items lie on the disk beside the key that opens them.
    public var deviceKeyOnDisk: Bool
    /// nil where no daemon keeps class keys in root's part of the kernel's keyring.
    public var vaultKeyPlace: VaultKeyPlace?

    /// Where the key lies that seals class keys in the kernel's keyring.
    public enum VaultKeyPlace: UInt8, Sendable {
        /// In the service manager's descriptor store: reading it takes the right to trace.
        case descriptorStore = 1
        /// In a file of root's, which any process of uid 0 opens, whatever its capabilities.
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
