// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// A protector: the parameters by which its kind finds its key, and the master key wrapped under
/// that key.
///
/// Kind, identifier and all other facts are authenticated with the wraps: a program that can write
/// to the file can destroy a protector, but can't make another one of it.
package struct ProtectorRecord: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case password
        /// This machine's own key.
        case device
        /// Printed, and typed when nothing else opens the keychain.
        case recoveryKey = "recovery-key"
        case tpm = "tpm2"
        /// A secret that systemd gave the service.
        case credential
        /// A security key's `hmac-secret`.
        case securityKey = "fido2"
    }

    package enum State: UInt8, Sendable {
        case current = 1
        /// A password that no login has proved yet. The previous password opens the keychain too
        /// until then.
        case pending = 2
        /// Removed at the second login: the first login's password may have carried a one-time
        /// code.
        case provisional = 3
        /// A login's password that differed, admitted with the keychain's own. Neither was changed
        /// to the other, so a login with either ends the other.
        case adopted = 4
    }

    package static let identifierBytes = 4
    static let namePrefix = "protector:"
    private static let versionByte: UInt8 = 1
    static let longestParameters = 8192

    package let kind: Kind
    package let identifier: [UInt8]
    package let state: State
    /// Seconds since 1970, by the clock of the machine that made it.
    package let made: Int64
    /// The parameters by which the kind finds its key; none is secret.
    package let parameters: [UInt8]
    private(set) var wrappedMaster: [UInt8] = []
    /// akpu, for a protector that opens it; else empty.
    private(set) var wrappedPasscode: [UInt8] = []

    init(_ kind: Kind, _ state: State = .current, parameters: [UInt8] = []) {
        precondition(parameters.count <= Self.longestParameters)
        self.kind = kind
        self.state = state
        self.parameters = parameters
        identifier = RandomBytes.make(Self.identifierBytes)
        made = WallClock.now.components.seconds
    }

    /// The same protector in another state, without its wraps.
    func become(_ state: State) -> ProtectorRecord {
        ProtectorRecord(kind, identifier, state, made, parameters)
    }

    private init(
        _ kind: Kind, _ identifier: [UInt8], _ state: State, _ made: Int64, _ parameters: [UInt8]
    ) {
        self.kind = kind
        self.identifier = identifier
        self.state = state
        self.made = made
        self.parameters = parameters
    }

    // MARK: Wraps

    mutating func keep(
        master: borrowing SealingKey, under key: borrowing SealingKey, _ wrap: KeyWrap
    ) {
        wrappedMaster = wrap.seal(master.bytes, for: label("master"), under: key)
    }

    mutating func keep(
        passcode: borrowing SealingKey, under key: borrowing SealingKey, _ wrap: KeyWrap
    ) {
        wrappedPasscode = wrap.seal(passcode.bytes, for: label("passcode"), under: key)
    }

    /// The protector without akpu, for a keychain whose passcode-set class has ended.
    var withoutPasscode: ProtectorRecord {
        var record = self
        record.wrappedPasscode = []
        return record
    }

    /// Returns nil where the key is another one.
    func master(_ key: borrowing SealingKey, _ wrap: KeyWrap) -> SealingKey? {
        Self.key(wrap.open(wrappedMaster, for: label("master"), under: key))
    }

    func passcode(_ key: borrowing SealingKey, _ wrap: KeyWrap) -> SealingKey? {
        Self.key(wrap.open(wrappedPasscode, for: label("passcode"), under: key))
    }

    private static func key(_ bytes: consuming SecretBytes?) -> SealingKey? {
        guard let bytes, bytes.count == SealingKey.byteCount else { return nil }
        return SealingKey(bytes)
    }

    private func label(_ part: String) -> [UInt8] {
        Array(name.utf8) + [0] + Array(part.utf8) + [0] + facts
    }

    // MARK: In the keybag

    /// `protector:KIND:IDENTIFIER`, the identifier in hexadecimal digits.
    var name: String {
        Self.namePrefix(of: kind)
            + shownIdentifier
    }

    /// Eight hexadecimal digits.
    package var shownIdentifier: String { identifier.hexadecimal }

    static func namePrefix(of kind: Kind) -> String { namePrefix + kind.rawValue + ":" }

    private var facts: [UInt8] {
        var facts = [Self.versionByte, state.rawValue]
        facts += UInt64(bitPattern: made).littleEndianBytes
        facts.append(block: parameters)
        return facts
    }

    /// The facts, then both wraps.
    var bytes: [UInt8] {
        var bytes = facts
        bytes.append(block: wrappedMaster)
        bytes.append(block: wrappedPasscode)
        return bytes
    }

    init(name: String, bytes: [UInt8]) throws(KeychainStoreError) {
        let parts = name.dropFirst(Self.namePrefix.count).split(
            separator: ":", omittingEmptySubsequences: false)
        // Safe: the count is checked first.
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])),
            // Safe: parses a text; nil where it is no number.
            let number = UInt32(parts[1], radix: 16)
        else { throw .damaged }
        var reader = ByteReader(bytes)
        do {
            guard try reader.byte() == Self.versionByte,
                let state = State(rawValue: try reader.byte())
            else { throw MalformedBytes() }
            let made = Int64(bitPattern: try reader.number(UInt64.self))
            let parameters = Array(try reader.block())
            self.init(
                kind, number.littleEndianBytes.reversed(), state, made, parameters)
            wrappedMaster = Array(try reader.block())
            wrappedPasscode = Array(try reader.block())
        } catch { throw .damaged }
        let wrapBytes = SealingKey.byteCount + SealingKey.overhead
        guard reader.isAtEnd, self.name == name, parameters.count <= Self.longestParameters,
            wrappedMaster.count == wrapBytes,
            wrappedPasscode.isEmpty || wrappedPasscode.count == wrapBytes
        else { throw .damaged }
    }
}
