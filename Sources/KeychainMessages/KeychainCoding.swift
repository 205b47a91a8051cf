// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension KeychainSettings: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: lockAfterIdle ?? 0)
        message.bytes.append(number: lockAfter ?? 0)
        message.append(locksOnSleep)
        message.append(locksWithScreen)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let idle = try message.bytes.number(UInt32.self)
        let whole = try message.bytes.number(UInt32.self)
        let onSleep = try message.flag()
        self.init(
            lockAfterIdle: idle == 0 ? nil : idle, lockAfter: whole == 0 ? nil : whole,
            locksOnSleep: onSleep, locksWithScreen: try message.flag())
    }
}

extension KeychainSettingsChange: MessageValue {
    package func encode(into message: inout MessageWriter) {
        for seconds in [lockAfterIdle, lockAfter] {
            message.append(seconds != nil)
            if let seconds { message.bytes.append(number: seconds) }
        }
        for locks in [locksOnSleep, locksWithScreen] {
            message.append(locks != nil)
            if let locks { message.append(locks) }
        }
        message.append(label)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        lockAfterIdle = try message.flag() ? try message.bytes.number(UInt32.self) : nil
        lockAfter = try message.flag() ? try message.bytes.number(UInt32.self) : nil
        locksOnSleep = try message.flag() ? try message.flag() : nil
        locksWithScreen = try message.flag() ? try message.flag() : nil
        label = try message.optionalText()
    }
}

extension KeychainPreferencesChange: MessageValue {
    package func encode(into message: inout MessageWriter) {
        switch self {
        case .defaultKeychain(let name):
            message.bytes.append(1)
            message.append(name)
        case .searchList(let names):
            message.bytes.append(2)
            message.bytes.append(count: names.count)
            for name in names { message.append(name) }
        case .alias(let alias, let keychain):
            message.bytes.append(3)
            message.append(alias)
            message.append(keychain)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.bytes.byte() {
        case 1: self = .defaultKeychain(try message.optionalText())
        case 2: self = .searchList(try message.texts())
        case 3:
            let alias = try message.bytes.text()
            self = .alias(alias, keychain: try message.optionalText())
        default: throw MalformedBytes()
        }
    }
}

extension KeychainPreferences: VerbAnswer {
    package func encode(into message: inout MessageWriter) {
        message.append(defaultKeychain?.description)
        message.bytes.append(count: searchList.count)
        for name in searchList { message.append(name.description) }
        message.bytes.append(count: aliases.count)
        for (alias, name) in aliases.sorted(by: { $0.key < $1.key }) {
            message.append(alias)
            message.append(name.description)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        func name(_ text: String) throws(MalformedBytes) -> KeychainName {
            guard let name = KeychainName(text) else { throw MalformedBytes() }
            return name
        }
        self.init(defaultKeychain: nil, searchList: [])
        if let text = try message.optionalText() { defaultKeychain = try name(text) }
        for text in try message.texts() { searchList.append(try name(text)) }
        for _ in 0..<(try message.bytes.count(ofAtLeast: 8)) {
            let alias = try message.bytes.text()
            guard aliases.updateValue(try name(try message.bytes.text()), forKey: alias) == nil
            else { throw MalformedBytes() }
        }
    }
}

extension ServiceStatus: VerbAnswer {
    package func encode(into message: inout MessageWriter) {
        message.append(mode)
        message.append(keychains)
        message.append(callerIdentifier)
        message.append(hasSession)
        message.append(hasPrompter)
        message.append(locksMemory)
        message.append(usesKernelKeyring)
        message.append(deviceKeyOnDisk)
        message.bytes.append(vaultKeyPlace?.rawValue ?? 0)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let mode = try message.raw(Mode.self)
        let keychains: [KeychainStatus] = try message.value()
        let identifier = try message.optionalText()
        let hasSession = try message.flag()
        let hasPrompter = try message.flag()
        let locksMemory = try message.flag()
        let usesKernelKeyring = try message.flag()
        let deviceKeyOnDisk = try message.flag()
        self.init(
            mode: mode, keychains: keychains, callerIdentifier: identifier, hasSession: hasSession,
            hasPrompter: hasPrompter, locksMemory: locksMemory,
            usesKernelKeyring: usesKernelKeyring, deviceKeyOnDisk: deviceKeyOnDisk,
            // A place that only a newer service knows becomes nil, not another place.
            vaultKeyPlace: VaultKeyPlace(rawValue: try message.bytes.byte()))
    }
}

extension KeychainStatus: ListElement {
    package static let leastBytes = 61

    package func encode(into message: inout MessageWriter) {
        message.append(name)
        message.append(path)
        message.append(lockState)
        message.append(isPasswordProtected)
        message.append(isProvisional)
        message.append(hasPendingPassword)
        message.append(lockReason)
        message.append(clamping: itemCount)
        message.append(clamping: damagedItems)
        message.append(clamping: quarantinedItems)
        message.bytes.append(number: problem?.rawValue ?? 0)
        message.bytes.append(count: remains.count)
        for name in remains { message.append(name) }
        message.append(settings)
        message.append(label)
        message.bytes.append(number: created)
        message.bytes.append(number: modified)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let name = try message.bytes.text()
        let path = try message.bytes.text()
        let lockState = try message.raw(LockState.self)
        let isPasswordProtected = try message.flag()
        let isProvisional = try message.flag()
        let hasPendingPassword = try message.flag()
        let lockReason = try message.raw(LockReason.self)
        let itemCount = try message.clampedNumber()
        let damagedItems = try message.clampedNumber()
        let quarantinedItems = try message.clampedNumber()
        let problem = try message.bytes.number(UInt32.self)
        let remains = try message.texts()
        self.init(
            name: name, path: path, lockState: lockState,
            isPasswordProtected: isPasswordProtected, lockReason: lockReason,
            itemCount: itemCount,
            problem: problem == 0
                ? nil : RequestError(rawValue: problem) ?? .failed(.internalError),
            settings: try message.optional())
        self.isProvisional = isProvisional
        self.hasPendingPassword = hasPendingPassword
        self.damagedItems = damagedItems
        self.quarantinedItems = quarantinedItems
        self.remains = remains
        label = try message.optionalText()
        created = try message.bytes.number(UInt64.self)
        modified = try message.bytes.number(UInt64.self)
    }
}

extension Capabilities: VerbAnswer {
    package func encode(into message: inout MessageWriter) {
        message.append(passcode)
        message.append(presence)
        message.append(biometry)
        message.append(companion)
        message.append(interaction)
        message.bytes.append(block: biometryState)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        passcode = try message.flag()
        presence = try message.flag()
        biometry = try message.raw()
        companion = try message.flag()
        interaction = try message.flag()
        biometryState = Array(try message.bytes.block())
    }
}
