// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// `https://user:password@host/path`, split without copying: no String gets the password.
struct SplitAddress {
    /// The address without user and password.
    var address = ""
    var account = ""
    var password: HeldSecret?
    /// The whole address, where it may have a password that can't be separated, as in
    /// `https://user:pa/ss@host`; the other parts are then empty.
    var unclear: HeldSecret?

    init(_ buffer: SecretBuffer, _ range: Range<Int>) {
        let start = Self.start(buffer, range)
        let hostEnd =
            (start..<range.upperBound).first { [0x2F, 0x3F, 0x23].contains(buffer.byte($0)) }
            ?? range.upperBound
        let hasScheme = start > range.lowerBound
        let sign = hasScheme ? (start..<hostEnd).last { buffer.byte($0) == 0x40 } : nil
        let host = sign.map { $0 + 1 } ?? start
        let isUnclear = Self.mayHavePassword((host..<range.upperBound).lazy.map(buffer.byte))
        guard !isUnclear, takeUser(buffer, start..<(sign ?? start)) else {
            (account, password) = ("", nil)
            unclear = buffer.secret(range)
            return
        }
        address =
            (buffer.text(range.lowerBound..<start) ?? "")
            + (buffer.text(host..<range.upperBound) ?? "")
    }

    /// Returns false where the user's name may be part of a password.
    private mutating func takeUser(_ buffer: SecretBuffer, _ range: Range<Int>) -> Bool {
        let end = buffer.first(0x3A, in: range) ?? range.upperBound
        let name = Self.decoded(buffer, range.lowerBound..<end).buffer
        guard name.first(0x3A, in: 0..<name.count) == nil else { return false }
        account = name.text(0..<name.count) ?? ""
        if end < range.upperBound {
            password = HeldSecret(Self.decoded(buffer, end + 1..<range.upperBound).secret)
        }
        return true
    }

    /// The index after `scheme://`; the beginning where there is no scheme.
    private static func start(_ buffer: SecretBuffer, _ range: Range<Int>) -> Int {
        guard let colon = buffer.first(0x3A, in: range), colon > range.lowerBound,
            colon + 2 < range.upperBound, buffer.byte(colon + 1) == 0x2F,
            buffer.byte(colon + 2) == 0x2F
        else { return range.lowerBound }
        return colon + 3
    }

    /// Whether a colon precedes the at sign, as in `user:password@host`.
    private static func mayHavePassword(_ bytes: some Sequence<UInt8>) -> Bool {
        var hasColon = false
        for byte in bytes {
            if byte == 0x40, hasColon { return true }
            hasColon = hasColon || byte == 0x3A
        }
        return false
    }

    static func mayHavePassword(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return mayHavePassword(bytes.dropFirst(schemeEnd(bytes)))
    }

    static func hasScheme(_ text: String) -> Bool { schemeEnd(Array(text.utf8)) > 0 }

    /// 0 where there is no scheme.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int {
        guard let colon = bytes.firstIndex(of: 0x3A), colon > 0,
            bytes[(colon + 1)...].starts(with: [0x2F, 0x2F])
        else { return 0 }
        return colon + 3
    }

    /// Decodes `%41` and the like.
    private static func decoded(
        _ buffer: SecretBuffer, _ range: Range<Int>
    ) -> SecretText {
        let text = SecretBuffer(limit: max(1, range.count))
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = buffer.byte(position)
            if byte == 0x25, position + 2 < range.upperBound,
                let high = digit(buffer.byte(position + 1)),
                let low = digit(buffer.byte(position + 2))
            {
                _ = text.append(high << 4 | low)
                position += 3
                continue
            }
            _ = text.append(byte)
            position += 1
        }
        return SecretText(buffer: text)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private struct SecretText {
        let buffer: SecretBuffer
        var secret: SecretBytes { buffer.contents }
    }
}

extension ImportEntry {
    /// The entry's own fields take precedence over its address.
    mutating func take(_ split: SplitAddress, _ notes: NoteLines) {
        if let unclear = split.unclear { return notes.add(unclear, name: "address") }
        address = split.address
        if account.isEmpty { account = split.account }
        guard let found = split.password else { return }
        if password == nil {
            password = found
        } else {
            notes.add(found, name: "password of the address")
        }
    }
}
