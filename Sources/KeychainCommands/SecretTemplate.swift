// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// A text with places that secrets belong in: `{{ keychain "NAME/ACCOUNT" }}`. What else stands
/// between braces is another program's, and stays.
struct SecretTemplate: Equatable {
    enum Piece: Equatable {
        case text([UInt8])
        /// The item's name.
        case secret(String)
    }

    /// A place that begins and is not as it should be.
    struct Malformed: Error, Equatable { let line: Int }

    private(set) var pieces: [Piece] = []

    init(_ bytes: [UInt8]) throws(Malformed) {
        var text: [UInt8] = []
        var position = 0
        while position < bytes.count {
            guard bytes[position...].starts(with: Self.opening),
                Self.isMeant(bytes, behind: position + Self.opening.count)
            else {
                text.append(bytes[position])
                position += 1
                continue
            }
            guard let (name, end) = Self.name(bytes, at: position) else {
                throw Malformed(line: bytes[..<position].count { $0 == 0x0A } + 1)
            }
            if !text.isEmpty { pieces.append(.text(text)) }
            text = []
            pieces.append(.secret(name))
            position = end
        }
        if !text.isEmpty { pieces.append(.text(text)) }
    }

    /// nil where it would be longer than the limit; then no more secrets are asked for.
    func filled<E: Error>(
        atMost limit: Int, _ secret: (String) throws(E) -> HeldSecret
    ) throws(E) -> HeldSecret? {
        var found: [HeldSecret] = []
        var count = 0
        for piece in pieces {
            let bytes =
                switch piece {
                case .text(let bytes): HeldSecret(SecretBytes(copying: bytes))
                case .secret(let name): try secret(name)
                }
            found.append(bytes)
            count += bytes.bytes.count
            guard count <= limit else { return nil }
        }
        var writer = SecretWriter(capacity: count)
        for piece in found { writer.append(piece.bytes) }
        return HeldSecret(writer.finish())
    }

    private static let opening = Array("{{".utf8)
    private static let closing = Array("}}".utf8)
    private static let word = Array("keychain".utf8)

    private static func isMeant(_ bytes: [UInt8], behind start: Int) -> Bool {
        let position = skippingSpaces(bytes, start)
        guard bytes[position...].starts(with: word) else { return false }
        let behind = position + word.count
        return behind < bytes.count && (isSpace(bytes[behind]) || bytes[behind] == 0x22)
    }

    /// The name between quotes, in which `\"` is a quote and `\\` a backslash; and where the place
    /// ends.
    private static func name(_ bytes: [UInt8], at start: Int) -> (name: String, end: Int)? {
        var position = skippingSpaces(bytes, start + opening.count) + word.count
        position = skippingSpaces(bytes, position)
        guard position < bytes.count, bytes[position] == 0x22 else { return nil }
        position += 1
        var name: [UInt8] = []
        while position < bytes.count, bytes[position] != 0x22 {
            if bytes[position] == 0x5C { position += 1 }
            guard position < bytes.count, bytes[position] != 0x0A else { return nil }
            name.append(bytes[position])
            position += 1
        }
        position = skippingSpaces(bytes, position + 1)
        guard position <= bytes.count, bytes[position...].starts(with: closing), !name.isEmpty,
            let text = String(validating: name, as: UTF8.self)
        else { return nil }
        return (text, position + closing.count)
    }

    private static func skippingSpaces(_ bytes: [UInt8], _ start: Int) -> Int {
        var position = min(start, bytes.count)
        while position < bytes.count, isSpace(bytes[position]) { position += 1 }
        return position
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
