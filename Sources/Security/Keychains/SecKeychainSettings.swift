// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

public let SEC_KEYCHAIN_SETTINGS_VERS1: UInt32 = 1

/// What closes a keychain.
public struct SecKeychainSettings: Sendable {
    /// `SEC_KEYCHAIN_SETTINGS_VERS1`.
    public var version: UInt32
    public var lockOnSleep: Bool
    /// Whether it closes after a time without use.
    public var useLockInterval: Bool
    /// That time in seconds; `INT_MAX` is never.
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

/// Says what closes a keychain, the default one where none is named. It must be open, and to keep
/// it open longer asks the user. errSecUnimplemented in embedded mode, where no daemon is there to
/// close it.
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

/// What closes it now, the administrator's bounds counted.
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
