// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainSecrets

/// Messages as they go through the pipe: length (4, little end first) ‖ kind (1) ‖ content.
///
/// An item is its line (4), its class (1), its attributes, each as name (4) ‖ length (4) ‖ text, a
/// name of zeros, and the secret.
package enum ImportFrame {
    /// Bytes of one message.
    package static let longest = 33 * 1024 * 1024
    private static let textNames: [AttributeName] = [
        .service, .account, .server, .networkProtocol, .path, .label, .comment, .itemDescription,
        .port,
    ]

    package static func append(_ message: ImportMessage, to buffer: SecretBuffer) -> Bool {
        switch message {
        case .item(let item):
            var head = number(item.line)
            head.append(item.itemClass == .internetPassword ? 1 : 0)
            for name in textNames {
                guard let value = item.attributes[name] else { continue }
                let text = value.comparedBytes
                head += Array(name.rawValue.utf8) + number(text.count) + text
            }
            head += [0, 0, 0, 0]
            guard head.count + item.secret.bytes.count < longest else { return false }
            let start = number(1 + head.count + item.secret.bytes.count) + [1]
            return buffer.append(SecretBytes(copying: start + head))
                && buffer.append(item.secret.bytes)
        case .leftOut(let line): return plain(2, number(line), buffer)
        case .failed(let error):
            let (code, numbers) = error.coded
            return plain(3, [code] + numbers.flatMap(number), buffer)
        case .finished: return plain(4, [], buffer)
        case .notBrought(let line): return plain(5, number(line), buffer)
        }
    }

    private static func plain(_ kind: UInt8, _ content: [UInt8], _ buffer: SecretBuffer) -> Bool {
        buffer.append(SecretBytes(copying: number(content.count + 1) + [kind] + content))
    }

    private static func number(_ value: Int) -> [UInt8] {
        let bits = UInt32(clamping: value)
        return (0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
    }

    /// The first message, which then is taken out; nil where it is not whole yet.
    package static func take(
        from buffer: SecretBuffer, at position: inout Int
    ) throws(ImportError) -> ImportMessage? {
        guard buffer.count - position >= 4 else { return nil }
        let length = number(buffer, position)
        guard length >= 1, length <= longest else { throw .inputOutput }
        guard buffer.count - position - 4 >= length else { return nil }
        let end = position + 4 + length
        let message = try message(buffer, position + 4, end)
        position = end
        return message
    }

    private static func number(_ buffer: SecretBuffer, _ position: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(buffer.byte(position + $1)) << ($1 * 8) }
    }

    private static func message(
        _ buffer: SecretBuffer, _ start: Int, _ end: Int
    ) throws(ImportError) -> ImportMessage {
        let content = start + 1
        switch buffer.byte(start) {
        case 1: return .item(try item(buffer, content, end))
        case 2 where end - content == 4: return .leftOut(line: number(buffer, content))
        case 3 where end > content && (end - content - 1) % 4 == 0:
            let numbers = stride(from: content + 1, to: end, by: 4).map { number(buffer, $0) }
            guard let error = ImportError(code: buffer.byte(content), numbers) else {
                throw .inputOutput
            }
            return .failed(error)
        case 4 where end == content: return .finished
        case 5 where end - content == 4: return .notBrought(line: number(buffer, content))
        default: throw .inputOutput
        }
    }

    private static func item(
        _ buffer: SecretBuffer, _ start: Int, _ end: Int
    ) throws(ImportError) -> ImportedItem {
        guard end - start >= 9 else { throw .inputOutput }
        let isInternet = buffer.byte(start + 4) == 1
        var attributes: Attributes = [:]
        var position = start + 5
        while true {
            guard end - position >= 4 else { throw .inputOutput }
            let code = buffer.text(position..<position + 4)
            position += 4
            if code == "\0\0\0\0" { break }
            guard let name = textNames.first(where: { $0.rawValue == code }), end - position >= 4
            else { throw .inputOutput }
            let length = number(buffer, position)
            position += 4
            guard length <= end - position, let text = buffer.text(position..<position + length)
            else { throw .inputOutput }
            attributes[name] = name == .port ? .number(Int64(text) ?? 0) : .string(text)
            position += length
        }
        return ImportedItem(
            line: number(buffer, start),
            itemClass: isInternet ? .internetPassword : .genericPassword,
            attributes: attributes, secret: HeldSecret(buffer.part(position..<end)))
    }
}
