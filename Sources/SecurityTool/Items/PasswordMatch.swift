// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The password items that a command's options select.
struct PasswordMatch {
    let itemClass: ItemClass
    let attributes: Attributes

    /// The option letters for `Options`.
    static func letters(_ itemClass: ItemClass) -> String {
        table(itemClass).map { "\($0.letter):" }.joined()
    }

    static func usage(_ itemClass: ItemClass) -> String {
        table(itemClass).map { "[-\($0.letter) \($0.word)]" }.joined(separator: " ")
    }

    init(_ options: Options, _ itemClass: ItemClass) throws(CommandFailure) {
        self.itemClass = itemClass
        var attributes: Attributes = [:]
        for row in Self.table(itemClass) {
            guard let given = options[row.letter] else { continue }
            attributes[row.name] = try Self.value(given, row.form)
        }
        self.attributes = attributes
    }

    var isEmpty: Bool { attributes.isEmpty }

    /// Where all distinguishing attributes were given, the other ones are ignored.
    var query: ItemQuery {
        var query = ItemQuery(itemClass)
        query.synchronizable = .any
        query.attributes = attributes
        let key = Self.primaryKey(itemClass)
        if key.allSatisfy({ attributes[$0] != nil }) {
            query.attributes = attributes.filter { key.contains($0.key) }
        }
        return query
    }

    private static func primaryKey(_ itemClass: ItemClass) -> [AttributeName] {
        itemClass == .genericPassword
            ? [.account, .service]
            : [
                .account, .securityDomain, .server, .networkProtocol, .authenticationType, .port,
                .path,
            ]
    }

    private enum Form { case text, number, code, codeText }

    private struct Row {
        let letter: Character
        let word: String
        let name: AttributeName
        var form = Form.text
    }

    private static func table(_ itemClass: ItemClass) -> [Row] {
        itemClass == .genericPassword ? generic : internet
    }

    private static let generic = [
        Row(letter: "a", word: "account", name: .account),
        Row(letter: "c", word: "creator", name: .creator, form: .code),
        Row(letter: "C", word: "type", name: .type, form: .code),
        Row(letter: "D", word: "kind", name: .itemDescription),
        Row(letter: "G", word: "value", name: .generic),
        Row(letter: "j", word: "comment", name: .comment),
        Row(letter: "l", word: "label", name: .label),
        Row(letter: "s", word: "service", name: .service),
    ]

    private static let internet = [
        Row(letter: "a", word: "account", name: .account),
        Row(letter: "c", word: "creator", name: .creator, form: .code),
        Row(letter: "C", word: "type", name: .type, form: .code),
        Row(letter: "d", word: "securityDomain", name: .securityDomain),
        Row(letter: "D", word: "kind", name: .itemDescription),
        Row(letter: "j", word: "comment", name: .comment),
        Row(letter: "l", word: "label", name: .label),
        Row(letter: "p", word: "path", name: .path),
        Row(letter: "P", word: "port", name: .port, form: .number),
        Row(letter: "r", word: "protocol", name: .networkProtocol, form: .codeText),
        Row(letter: "s", word: "server", name: .server),
        Row(letter: "t", word: "authenticationType", name: .authenticationType, form: .codeText),
    ]

    private static func value(
        _ given: String, _ form: Form
    ) throws(CommandFailure) -> AttributeValue {
        switch form {
        case .text: return .string(given)
        case .number: return .number(leadingNumber(given))
        case .code, .codeText:
            guard let code = FourCharacters(given) else {
                throw .said(FourCharacters.complaint(about: given), exit: 1)
            }
            return form == .code ? .number(code.number) : .string(code.text)
        }
    }

    /// The number at the beginning, as atoi(3) reads it; 0 where there is none.
    static func leadingNumber(_ text: String) -> Int64 {
        let digits = text.drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber }
        return Int64(digits).map { min($0, Int64(UInt32.max)) } ?? (digits.isEmpty ? 0 : .max)
    }
}
