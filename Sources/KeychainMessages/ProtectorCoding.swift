// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainWire
internal import KeychainSecrets

extension ProtectorRequest {
    func encode(into wire: inout WireClientMessage.Protectors, _ parcel: inout SecretParcel) {
        if let keychain { wire.keychain = keychain }
        switch verb {
        case .list: wire.list = .init()
        case .add(let new, let opener):
            wire.add.opener = opener.kind
            if let secret = opener.secret { parcel.add(secret) }
            switch new {
            case .device: wire.add.kind = UInt32(Protector.Kind.device.rawValue)
            case .recoveryKey(let text):
                wire.add.kind = UInt32(Protector.Kind.recoveryKey.rawValue)
                parcel.add(text)
            case .tpm(let registers, let atLogin):
                wire.add.kind = UInt32(Protector.Kind.tpm.rawValue)
                wire.add.registers = registers.map(UInt32.init)
                wire.add.atLogin = atLogin
            case .credential(let name, let atLogin):
                wire.add.kind = UInt32(Protector.Kind.credential.rawValue)
                wire.add.credential = name
                wire.add.atLogin = atLogin
            case .securityKey(let pin, let atLogin):
                wire.add.kind = UInt32(Protector.Kind.securityKey.rawValue)
                wire.add.atLogin = atLogin
                parcel.add(pin)
            }
        case .remove(let identifier): wire.remove = identifier
        case .test(let identifier, let secret):
            wire.test.identifier = identifier
            wire.test.hasSecret_p = secret != nil
            if let secret { parcel.add(secret) }
        case .open(let opener, let password):
            wire.open.opener = opener.kind
            wire.open.hasNewPassword_p = password != nil
            if let secret = opener.secret { parcel.add(secret) }
            if let password { parcel.add(password) }
        }
    }

    init(
        _ wire: WireClientMessage.Protectors, _ secrets: inout ArraySlice<HeldSecret>
    ) throws(MessageError) {
        let verb: Verb
        switch wire.verb {
        case .list: verb = .list
        case .add(let add):
            let opener = try KeychainOpener(add.opener, &secrets)
            verb = .add(try NewProtector(add, &secrets), opening: opener)
        case .remove(let identifier): verb = .remove(identifier: identifier)
        case .test(let test):
            verb = .test(
                identifier: test.identifier,
                secret: test.hasSecret_p ? try secrets.takeFirst() : nil)
        case .open(let open):
            verb = .open(
                try KeychainOpener(open.opener, &secrets),
                newPassword: open.hasNewPassword_p ? try secrets.takeFirst() : nil)
        case nil: throw .malformed
        }
        self.init(wire.hasKeychain ? wire.keychain : nil, verb)
    }
}

extension NewProtector {
    /// The platform registers that there are.
    private static let mostRegisters = 24

    fileprivate init(
        _ wire: WireClientMessage.AddProtector, _ secrets: inout ArraySlice<HeldSecret>
    ) throws(MessageError) {
        switch UInt8(exactly: wire.kind).flatMap(Protector.Kind.init) {
        case .recoveryKey: self = .recoveryKey(try secrets.takeFirst())
        case .tpm:
            guard wire.registers.count <= Self.mostRegisters,
                wire.registers.allSatisfy({ $0 < Self.mostRegisters })
            else { throw .malformed }
            self = .tpm(
                registers: Set(wire.registers).sorted().map { UInt8(clamping: $0) },
                atLogin: wire.atLogin)
        case .credential: self = .credential(name: wire.credential, atLogin: wire.atLogin)
        case .securityKey:
            self = .securityKey(pin: try secrets.takeFirst(), atLogin: wire.atLogin)
        case .device: self = .device
        case .password, nil: throw .malformed
        }
    }
}

extension KeychainOpener {
    fileprivate var kind: UInt32 {
        switch self {
        case .unasked: UInt32(Protector.Kind.device.rawValue)
        case .password: UInt32(Protector.Kind.password.rawValue)
        case .recoveryKey: UInt32(Protector.Kind.recoveryKey.rawValue)
        case .securityKey: UInt32(Protector.Kind.securityKey.rawValue)
        }
    }

    fileprivate init(
        _ kind: UInt32, _ secrets: inout ArraySlice<HeldSecret>
    ) throws(MessageError) {
        switch UInt8(exactly: kind).flatMap(Protector.Kind.init) {
        case .device: self = .unasked
        case .password: self = .password(try secrets.takeFirst())
        case .recoveryKey: self = .recoveryKey(try secrets.takeFirst())
        case .securityKey: self = .securityKey(try secrets.takeFirst())
        default: throw .malformed
        }
    }
}

extension Protector {
    var wire: WireServerMessage.Protector {
        var wire = WireServerMessage.Protector()
        wire.identifier = identifier
        wire.kind = UInt32(kind.rawValue)
        wire.opensAtLogin = opensAtLogin
        wire.made = made
        wire.registers = registers.map(UInt32.init)
        if let credential { wire.credential = credential }
        wire.usesPin = usesPIN
        return wire
    }

    init(_ wire: WireServerMessage.Protector) throws(MessageError) {
        guard let kind = UInt8(exactly: wire.kind).flatMap(Kind.init) else { throw .malformed }
        self.init(
            identifier: wire.identifier, kind: kind, opensAtLogin: wire.opensAtLogin,
            made: wire.made, registers: wire.registers.map { UInt8(truncatingIfNeeded: $0) },
            credential: wire.hasCredential ? wire.credential : nil)
        usesPIN = wire.usesPin
    }
}
