// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

extension NewProtector: MessageValue {
    /// The number of the TPM's platform registers.
    private static let mostRegisters = 24

    package func encode(into message: inout MessageWriter) {
        switch self {
        case .device: message.append(Protector.Kind.device)
        case .recoveryKey(let text):
            message.append(Protector.Kind.recoveryKey)
            message.append(text)
        case .tpm(let registers, let atLogin):
            message.append(Protector.Kind.tpm)
            message.bytes.append(block: registers)
            message.append(atLogin)
        case .credential(let name, let atLogin):
            message.append(Protector.Kind.credential)
            message.append(name)
            message.append(atLogin)
        case .securityKey(let pin, let atLogin):
            message.append(Protector.Kind.securityKey)
            message.append(pin)
            message.append(atLogin)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.raw(Protector.Kind.self) {
        case .device: self = .device
        case .recoveryKey: self = .recoveryKey(try message.secret())
        case .tpm:
            let registers = Set(try message.bytes.block()).sorted()
            guard registers.allSatisfy({ $0 < Self.mostRegisters }) else { throw MalformedBytes() }
            self = .tpm(registers: registers, atLogin: try message.flag())
        case .credential:
            let name = try message.bytes.text()
            self = .credential(name: name, atLogin: try message.flag())
        case .securityKey:
            let pin = try message.secret()
            self = .securityKey(pin: pin, atLogin: try message.flag())
        case .password: throw MalformedBytes()
        }
    }
}

extension KeychainOpener: MessageValue {
    private var kind: Protector.Kind {
        switch self {
        case .unasked: .device
        case .password: .password
        case .recoveryKey: .recoveryKey
        case .securityKey: .securityKey
        }
    }

    package func encode(into message: inout MessageWriter) {
        message.append(kind)
        if let secret { message.append(secret) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.raw(Protector.Kind.self) {
        case .device: self = .unasked
        case .password: self = .password(try message.secret())
        case .recoveryKey: self = .recoveryKey(try message.secret())
        case .securityKey: self = .securityKey(try message.secret())
        case .tpm, .credential: throw MalformedBytes()
        }
    }
}

extension Protector: VerbAnswer, ListElement {
    package static let leastBytes = 20

    package func encode(into message: inout MessageWriter) {
        message.append(identifier)
        message.append(kind)
        message.append(opensAtLogin)
        message.bytes.append(number: UInt64(bitPattern: made))
        message.bytes.append(block: registers)
        message.append(credential)
        message.append(usesPIN)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(
            identifier: try message.bytes.text(), kind: try message.raw(Kind.self),
            opensAtLogin: try message.flag(),
            made: Int64(bitPattern: try message.bytes.number(UInt64.self)),
            registers: Array(try message.bytes.block()), credential: try message.optionalText())
        usesPIN = try message.flag()
    }
}
