// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainSecrets

/// Messages in the pipe: length (4, little-endian) ‖ kind (1) ‖ content.
///
/// An item is its line (4), its class (1), its attributes, each as length (4) ‖ name ‖ length (4) ‖
/// text, a length of zero, and the secret. Numbers and dates are texts, too.
package enum ImportFrame {
    /// The most bytes of one message.
    package static let longest = 33 * 1024 * 1024
    private static let names: [AttributeName] = [
        .service, .account, .server, .networkProtocol, .path, .label, .comment, .itemDescription,
        .port,
    ]
    private static let attributedNames: [AttributeName] = [
        .label, .contentType, .creationDate, .modificationDate,
    ]
    private static let classes: [ItemClass] = [
        .genericPassword, .internetPassword, .attributed,
    ]
    /// The most bytes of a skipped item's name.
    private static let longestName = 1024

    package static func append(_ message: ImportMessage, to buffer: SecretBuffer) -> Bool {
        switch message {
        case .item(let item):
            var head = number(item.line)
            guard let code = classes.firstIndex(of: item.itemClass) else { return false }
            head.append(UInt8(truncatingIfNeeded: code))
            for (name, value) in item.attributes
            where isKnown(name, item.itemClass) {
                for text in [Array(name.rawValue.utf8), text(value)] {
                    head += number(text.count) + text
                }
            }
            head += number(0)
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
        case .skipped(let name, let reason):
            guard name.utf8.count <= longestName else { return false }
            return plain(6, [reason.rawValue] + Array(name.utf8), buffer)
        }
    }

    private static func isKnown(_ name: AttributeName, _ itemClass: ItemClass) -> Bool {
        itemClass == .attributed
            ? attributedNames.contains(name) || name.pairName != nil : names.contains(name)
    }

    private static func text(_ value: AttributeValue) -> [UInt8] {
        guard case .date(let seconds) = value else { return value.comparedBytes }
        return Array(String(seconds).utf8)
    }

    private static func plain(_ kind: UInt8, _ content: [UInt8], _ buffer: SecretBuffer) -> Bool {
        buffer.append(SecretBytes(copying: number(content.count + 1) + [kind] + content))
    }

    private static func number(_ value: Int) -> [UInt8] {
        let bits = UInt32(clamping: value)
        return (0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
    }

    /// The first message, which is removed from the buffer; nil where it is not complete yet.
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
        case 6 where end > content && end - content <= longestName + 1:
            guard let reason = ImportSkip(rawValue: buffer.byte(content)),
                let name = buffer.text(content + 1..<end)
            else { throw .inputOutput }
            return .skipped(name, reason)
        default: throw .inputOutput
        }
    }

    private static func item(
        _ buffer: SecretBuffer, _ start: Int, _ end: Int
    ) throws(ImportError) -> ImportedItem {
        guard end - start >= 9, Int(buffer.byte(start + 4)) < classes.count else {
            throw .inputOutput
        }
        let itemClass = classes[Int(buffer.byte(start + 4))]
        var attributes: Attributes = [:]
        var position = start + 5
        while true {
            let name = AttributeName(rawValue: try block(buffer, &position, end))
            if name.rawValue.isEmpty { break }
            guard isKnown(name, itemClass), attributes.count < Attributes.most else {
                throw .inputOutput
            }
            attributes[name] = try value(try block(buffer, &position, end), of: name)
        }
        return ImportedItem(
            line: number(buffer, start), itemClass: itemClass, attributes: attributes,
            secret: HeldSecret(buffer.part(position..<end)))
    }

    private static func block(
        _ buffer: SecretBuffer, _ position: inout Int, _ end: Int
    ) throws(ImportError) -> String {
        guard end - position >= 4 else { throw .inputOutput }
        let length = number(buffer, position)
        position += 4
        guard length <= end - position, let text = buffer.text(position..<position + length)
        else { throw .inputOutput }
        position += length
        return text
    }

    private static func value(
        _ text: String, of name: AttributeName
    ) throws(ImportError) -> AttributeValue {
        switch name {
        case .port: return .number(Int64(text) ?? 0)
        case .creationDate, .modificationDate:
            guard let seconds = Double(text), seconds.isFinite else { throw .inputOutput }
            return .date(seconds)
        default: return .string(text)
        }
    }
}
