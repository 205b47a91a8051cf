// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

public let SEC_KEYCHAIN_SETTINGS_VERS1: UInt32 = 1

/// The settings of a keychain's automatic locking.
public struct SecKeychainSettings: Sendable {
    /// `SEC_KEYCHAIN_SETTINGS_VERS1`.
    public var version: UInt32
    public var lockOnSleep: Bool
    /// Whether the keychain locks after a time without use.
    public var useLockInterval: Bool
    /// That time in seconds; `INT_MAX` means never.
    public var lockInterval: UInt32

    public init() {
        self.init(
            version: SEC_KEYCHAIN_SETTINGS_VERS1, lockOnSleep: false, useLockInterval: false,
            lockInterval: never)
    }

    public init(version: UInt32, lockOnSleep: Bool, useLockInterval: Bool, lockInterval: UInt32) {
        self.version = version
        self.lockOnSleep = lockOnSleep
        self.useLockInterval = useLockInterval
        self.lockInterval = lockInterval
    }
}

private let never = UInt32(Int32.max)

/// Sets when a keychain locks by itself; the default keychain where none is named. The keychain
/// must be unlocked, and the user is asked before it stays unlocked longer. Returns
/// errSecUnimplemented in embedded mode, which has no daemon to lock keychains.
@discardableResult
public func SecKeychainSetSettings(
    _ keychain: SecKeychain?, _ newSettings: UnsafePointer<SecKeychainSettings>
) -> OSStatus {
    // Safe: the caller's own structure.
    let new = unsafe newSettings.pointee
    guard new.version == SEC_KEYCHAIN_SETTINGS_VERS1 else { return errSecParam }
    var change = KeychainSettingsChange()
    change.locksOnSleep = new.lockOnSleep
    let closes = new.useLockInterval && new.lockInterval < never
    change.lockAfterIdle = closes ? max(new.lockInterval, 1) : 0
    do throws(RequestError) {
        let name = try UserKeychains.name(keychain)
        return UserKeychains.ask(ChangeSettings(keychain: name, change))
    } catch { return error.status }
}

/// The present settings of automatic locking, within the administrator's bounds.
@discardableResult
public func SecKeychainCopySettings(
    _ keychain: SecKeychain?, _ outSettings: UnsafeMutablePointer<SecKeychainSettings>
) -> OSStatus {
    do throws(RequestError) {
        let state = try UserKeychains.state(of: keychain)
        let settings = state.settings ?? .loosest
        // Safe: the caller's own variable for the answer.
        unsafe outSettings.pointee = SecKeychainSettings(
            version: SEC_KEYCHAIN_SETTINGS_VERS1, lockOnSleep: settings.locksOnSleep,
            useLockInterval: settings.lockAfterIdle != nil,
            lockInterval: settings.lockAfterIdle ?? never)
        return errSecSuccess
    } catch { return error.status }
}
