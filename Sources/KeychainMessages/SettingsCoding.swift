// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainWire

extension WireServerMessage.Settings {
    init(_ settings: KeychainSettings) {
        self.init()
        lockAfterIdle = settings.lockAfterIdle ?? 0
        lockAfter = settings.lockAfter ?? 0
        locksOnSleep = settings.locksOnSleep
        locksWithScreen = settings.locksWithScreen
    }

    var settings: KeychainSettings {
        KeychainSettings(
            lockAfterIdle: lockAfterIdle == 0 ? nil : lockAfterIdle,
            lockAfter: lockAfter == 0 ? nil : lockAfter, locksOnSleep: locksOnSleep,
            locksWithScreen: locksWithScreen)
    }
}

extension WireClientMessage.ChangeSettings {
    init(_ keychain: String?, _ change: KeychainSettingsChange) {
        self.init()
        if let keychain { self.keychain = keychain }
        if let seconds = change.lockAfterIdle { lockAfterIdle = seconds }
        if let seconds = change.lockAfter { lockAfter = seconds }
        if let locks = change.locksOnSleep { locksOnSleep = locks }
        if let locks = change.locksWithScreen { locksWithScreen = locks }
    }

    var change: KeychainSettingsChange {
        var change = KeychainSettingsChange()
        if hasLockAfterIdle { change.lockAfterIdle = lockAfterIdle }
        if hasLockAfter { change.lockAfter = lockAfter }
        if hasLocksOnSleep { change.locksOnSleep = locksOnSleep }
        if hasLocksWithScreen { change.locksWithScreen = locksWithScreen }
        return change
    }
}
