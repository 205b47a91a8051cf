// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Pairs such as `svce=mail`, with the names of Apple's dictionaries.
struct ItemAttributes {
    private var itemClass: ItemClass?
    private var attributes: [(name: AttributeName, text: String)] = []
    private var accessible: Accessibility?
    private var rights: ItemAccessControl?
    private var group: String?
    private var synchronizable: ItemQuery.Synchronizable?
    /// nil where the attributes do not say whether the user may be asked.
    private(set) var authenticationUI: ItemQuery.AuthenticationUI?
    var secret: HeldSecret?

    private static let synchronizable: [String: ItemQuery.Synchronizable] = [
        "0": .no, "1": .yes, "syna": .any,
    ]
    private static let authenticationUI: [String: ItemQuery.AuthenticationUI] = [
        "u_AuthUIA": .allow, "u_AuthUIF": .fail, "u_AuthUIS": .skip,
    ]

    init(_ pairs: [String]) throws(RequestError) {
        for pair in pairs {
            guard let sign = pair.firstIndex(of: "=") else { throw .invalid(.badRequest) }
            let value = String(pair[pair.index(after: sign)...])
            try take(String(pair[..<sign]), value)
        }
    }

    private mutating func take(_ name: String, _ value: String) throws(RequestError) {
        switch name {
        case "class":
            guard let found = ItemClass(code: value), ItemClass.ofSecItem.contains(found) else {
                throw .invalid(.noSuchClass)
            }
            itemClass = found
        case "agrp": group = value
        case "pdmn":
            guard let found = Accessibility(code: value) else { throw .invalid(.badRequest) }
            accessible = found
        case "accc":
            guard let found = AccessControlText.value(of: value) else {
                throw .invalid(.badRequest)
            }
            rights = found
        case "sync":
            guard let found = Self.synchronizable[value] else { throw .invalid(.badRequest) }
            synchronizable = found
        case "u_AuthUI":
            guard let found = Self.authenticationUI[value] else { throw .invalid(.badRequest) }
            authenticationUI = found
        case "v_Data": secret = PasswordPrompt.given(value)
        default: attributes.append((AttributeName(rawValue: name), value))
        }
    }

    /// The text for `-v`.
    var description: String {
        let given = attributes.map { "\($0.name.rawValue)=\($0.text)" }
        return (["class=\(itemClass?.code ?? "")"] + given).joined(separator: ",")
    }

    func query(reference: String?) throws(RequestError) -> ItemQuery {
        let named = try reference.map { text throws(RequestError) in
            guard let bytes = Base64.bytes(text), let found = ItemReference(bytes: bytes),
                ItemClass.ofSecItem.contains(found.itemClass)
            else { throw .invalid(.badRequest) }
            return found
        }
        guard let itemClass = itemClass ?? named?.itemClass else { throw .invalid(.badRequest) }
        var query = ItemQuery(itemClass)
        query.references = named.map { [$0] }
        query.attributes = try values(for: itemClass)
        query.accessible = accessible
        query.accessGroup = group
        query.synchronizable = synchronizable ?? .no
        query.authenticationUI = authenticationUI ?? .allow
        return query
    }

    func newItem() throws(RequestError) -> NewItem {
        guard let itemClass else { throw .invalid(.badRequest) }
        var item = NewItem(itemClass)
        item.attributes = try values(for: itemClass)
        item.accessGroup = group
        item.isSynchronizable = synchronizable == .yes
        item.accessible = rights?.protection ?? accessible ?? itemClass.defaultAccessibility
        item.accessControl = rights
        return item
    }

    /// The change of items of a class, which stays theirs.
    func change(of changed: ItemClass) throws(RequestError) -> ItemChange {
        guard itemClass == nil else { throw .invalid(.noSuchAttribute) }
        var change = ItemChange()
        change.attributes = try values(for: changed)
        change.accessGroup = group
        change.isSynchronizable = synchronizable.map { $0 == .yes }
        if let rights {
            change.accessible = rights.protection
            change.accessControl = rights
        } else {
            change.accessible = accessible
        }
        return change
    }

    /// As with the library, a name of four letters that the class lacks is no attribute, and any
    /// other name makes no sense.
    private func values(for itemClass: ItemClass) throws(RequestError) -> Attributes {
        var values: Attributes = [:]
        for (name, text) in attributes {
            guard let rule = itemClass.attributeRules[name] else {
                throw .invalid(name.rawValue.utf8.count == 4 ? .noSuchAttribute : .badRequest)
            }
            switch rule.kind {
            case .number: values[name] = Self.number(text)
            case .data, .uuid: values[name] = .data(Self.data(text))
            case .blob, .string, .date: values[name] = .string(text)
            }
        }
        return values
    }

    /// A text of digits is a number if it fits into 32 bits and is in canonical form, as with the
    /// library.
    private static func number(_ text: String) -> AttributeValue {
        guard let number = Int32(text), String(number) == text else { return .string(text) }
        return .number(Int64(number))
    }

    /// The bytes of the text, or of the hexadecimal digits behind `0x`.
    private static func data(_ text: String) -> [UInt8] {
        let prefix = "0x"
        guard text.hasPrefix(prefix),
            let bytes = HexDigits.bytes(String(text.dropFirst(prefix.count)))
        else { return Array(text.utf8) }
        return bytes
    }
}

/// References in base64 on the command line.
enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// nil for a text with other characters.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8 where character != UInt8(ascii: "=") {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count += 1
            guard count % 4 != 1 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - 2 * ((count - 1) % 4))))
        }
        return bytes
    }

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(UInt32(0)) {
                $0 << 8 | (start + $1 < bytes.count ? UInt32(bytes[start + $1]) : 0)
            }
            for place in 0..<4 {
                text.append(
                    place <= group.count
                        ? digits[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
