// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainWire

extension ServiceStatus {
    var wire: WireServerMessage.Status {
        var wire = WireServerMessage.Status()
        wire.mode = UInt32(mode.rawValue)
        wire.keychains = keychains.map(\.wire)
        if let callerIdentifier { wire.callerIdentifier = callerIdentifier }
        wire.hasSession_p = hasSession
        wire.hasPrompter_p = hasPrompter
        wire.locksMemory = locksMemory
        wire.usesKernelKeyring = usesKernelKeyring
        wire.deviceKeyOnDisk = deviceKeyOnDisk
        // Safe: a raw value of one byte.
        wire.vaultKeyPlace = UInt32(vaultKeyPlace?.rawValue ?? 0)
        return wire
    }

    init(_ wire: WireServerMessage.Status) throws(MessageError) {
        guard let mode = UInt8(exactly: wire.mode).flatMap(Mode.init) else { throw .malformed }
        var keychains: [KeychainStatus] = []
        for keychain in wire.keychains { keychains.append(try KeychainStatus(keychain)) }
        self.init(
            mode: mode, keychains: keychains,
            callerIdentifier: wire.hasCallerIdentifier ? wire.callerIdentifier : nil,
            hasSession: wire.hasSession_p, hasPrompter: wire.hasPrompter_p,
            locksMemory: wire.locksMemory, usesKernelKeyring: wire.usesKernelKeyring,
            deviceKeyOnDisk: wire.deviceKeyOnDisk,
            vaultKeyPlace: UInt8(exactly: wire.vaultKeyPlace).flatMap(VaultKeyPlace.init))
    }
}

extension KeychainStatus {
    fileprivate var wire: WireServerMessage.Keychain {
        var wire = WireServerMessage.Keychain()
        wire.name = name
        wire.path = path
        wire.lockState = UInt32(lockState.rawValue)
        wire.isPasswordProtected = isPasswordProtected
        wire.isProvisional = isProvisional
        wire.hasPendingPassword_p = hasPendingPassword
        wire.lockReason = UInt32(lockReason.rawValue)
        wire.itemCount = UInt64(clamping: itemCount)
        wire.damagedItems = UInt64(clamping: damagedItems)
        wire.quarantinedItems = UInt64(clamping: quarantinedItems)
        if let problem { wire.problem = problem.rawValue }
        wire.remains = remains
        if let settings { wire.settings = .init(settings) }
        return wire
    }

    fileprivate init(_ wire: WireServerMessage.Keychain) throws(MessageError) {
        guard let lockState = UInt8(exactly: wire.lockState).flatMap(LockState.init),
            let reason = UInt8(exactly: wire.lockReason).flatMap(LockReason.init)
        else { throw .malformed }
        self.init(
            name: wire.name, path: wire.path, lockState: lockState,
            isPasswordProtected: wire.isPasswordProtected, lockReason: reason,
            itemCount: Int(clamping: wire.itemCount),
            problem: wire.hasProblem ? Refusal(rawValue: wire.problem) ?? .internalError : nil,
            settings: wire.hasSettings ? wire.settings.settings : nil)
        isProvisional = wire.isProvisional
        hasPendingPassword = wire.hasPendingPassword_p
        damagedItems = Int(clamping: wire.damagedItems)
        quarantinedItems = Int(clamping: wire.quarantinedItems)
        remains = wire.remains
    }
}

extension Capabilities {
    var wire: WireServerMessage.Capabilities {
        var wire = WireServerMessage.Capabilities()
        wire.passcode = passcode
        wire.presence = presence
        wire.biometry = UInt32(biometry.rawValue)
        wire.companion = companion
        wire.interaction = interaction
        wire.biometryState = .init(biometryState)
        return wire
    }

    init(_ wire: WireServerMessage.Capabilities) throws(MessageError) {
        guard let biometry = UInt8(exactly: wire.biometry).flatMap(Biometry.init) else {
            throw .malformed
        }
        self.init()
        passcode = wire.passcode
        presence = wire.presence
        self.biometry = biometry
        companion = wire.companion
        interaction = wire.interaction
        biometryState = .init(wire.biometryState)
    }
}
