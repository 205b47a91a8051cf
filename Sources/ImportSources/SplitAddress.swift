// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// `https://user:password@host/path` taken apart where it lies: no text gets the password in it.
struct SplitAddress {
    /// Without user and password.
    var address = ""
    var account = ""
    var password: HeldSecret?

    init(_ buffer: SecretBuffer, _ range: Range<Int>) {
        func find(_ byte: UInt8, _ range: Range<Int>) -> Int? {
            range.first { buffer.byte($0) == byte }
        }
        guard let colon = find(0x3A, range), colon + 2 < range.upperBound,
            buffer.byte(colon + 1) == 0x2F, buffer.byte(colon + 2) == 0x2F
        else {
            address = buffer.text(range) ?? ""
            return
        }
        let start = colon + 3
        let hostEnd =
            (start..<range.upperBound).first { [0x2F, 0x3F, 0x23].contains(buffer.byte($0)) }
            ?? range.upperBound
        guard let sign = (start..<hostEnd).last(where: { buffer.byte($0) == 0x40 }) else {
            address = buffer.text(range) ?? ""
            return
        }
        address =
            (buffer.text(range.lowerBound..<start) ?? "")
            + (buffer.text(sign + 1..<range.upperBound) ?? "")
        let nameEnd = find(0x3A, start..<sign) ?? sign
        account = Self.decoded(buffer, start..<nameEnd).text
        if nameEnd < sign { password = HeldSecret(Self.decoded(buffer, nameEnd + 1..<sign).secret) }
    }

    /// With `%41` as what it stands for.
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
        var text: String { buffer.text(0..<buffer.count) ?? "" }
        var secret: SecretBytes { buffer.contents }
    }
}

extension ImportEntry {
    /// What the entry says itself counts more than what its address says.
    mutating func take(_ split: SplitAddress, _ notes: NoteLines) {
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
