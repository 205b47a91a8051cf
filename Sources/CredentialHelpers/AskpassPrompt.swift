// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The request of OpenSSH, git or sudo to an askpass program, read from the text of the prompt.
struct AskpassPrompt {
    enum Kind: Equatable {
        /// Hidden while it is typed.
        case secret
        /// A user's name, for example.
        case plain
        /// The answer is `yes`, `no` or a fingerprint, in words.
        case question
    }

    /// The attributes under which a password is stored.
    struct Item: Equatable {
        let itemClass: ItemClass
        /// The attributes of new items; those that tell items apart are in all of `searches`.
        let attributes: Attributes
        /// The best ones first.
        let searches: [Attributes]
        /// Whether to offer storing it. An answer to sudo is the account's password: it is stored
        /// only where the user demands it.
        var isOffered = true
    }

    private(set) var kind = Kind.secret
    /// nil for answers that are never stored: PINs, one-time passwords, and unknown prompts.
    private(set) var item: Item?
    /// The previous answer was wrong.
    private(set) var isRepeated = false

    /// ssh cuts longer names, so that two keys would have the same prompt.
    private static let longestKeyPath = 99

    init(_ prompt: String) {
        let prompt = prompt.trimmed
        if let path = Self.keyPath(prompt) {
            item = Self.key(path)
            isRepeated = prompt.hasPrefix("Bad passphrase")
        } else if let account = Self.between("", "'s password:", prompt)
            ?? Self.between("(", ") Password:", prompt)
        {
            item = Self.login(account)
        } else if let address = Self.between("Password for '", "':", prompt) {
            item = Self.web(address)
        } else if let address = Self.between("Username for '", "':", prompt) {
            kind = .plain
            item = Self.web(address)
        } else if let user = Self.between("[sudo] password for ", ":", prompt) {
            item = Self.account(user)
        } else if prompt.contains("(yes/no") {
            kind = .question
        }
    }

    private static func between(_ start: String, _ end: String, _ text: String) -> String? {
        guard text.hasPrefix(start), text.hasSuffix(end),
            text.utf8.count > start.utf8.count + end.utf8.count
        else { return nil }
        return String(text.dropFirst(start.count).dropLast(end.count))
    }

    private static func keyPath(_ prompt: String) -> String? {
        if let quoted = between("Enter passphrase for key '", "':", prompt) { return quoted }
        guard
            let path = between("Enter passphrase for ", ":", prompt)
                ?? between("Bad passphrase, try again for ", ":", prompt)
        else { return nil }
        let note = " (will confirm each use)"
        return path.hasSuffix(note) ? String(path.dropLast(note.count)) : path
    }

    /// The item as ssh-add of macOS stores a passphrase.
    private static func key(_ path: String) -> Item? {
        guard path.hasPrefix("/"), path.utf8.count <= longestKeyPath else { return nil }
        return generic("OpenSSH", path, label: "SSH: \(path)")
    }

    private static func account(_ user: String) -> Item? {
        guard user.allSatisfy({ !$0.isWhitespace }) else { return nil }
        var item = generic("sudo", user, label: "sudo: \(user)")
        item.isOffered = false
        return item
    }

    private static func generic(_ service: String, _ account: String, label: String) -> Item {
        let key: Attributes = [.service: .string(service), .account: .string(account)]
        return Item(
            itemClass: .genericPassword,
            attributes: key.merging([.label: .string(label)]), searches: [key])
    }

    private static func login(_ account: String) -> Item? {
        guard let sign = account.lastIndex(of: "@"), sign > account.startIndex else { return nil }
        return internet(
            "ssh", host: String(account[account.index(after: sign)...]),
            user: String(account[..<sign]), path: nil)
    }

    /// The item for git's prompts: `https://USER@HOST:PORT/PATH`.
    private static func web(_ address: String) -> Item? {
        guard let end = address.firstRange(of: "://") else { return nil }
        let rest = address[end.upperBound...]
        let place = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(place.count + 1)
        let sign = place.lastIndex(of: "@")
        let host = sign.map { place[place.index(after: $0)...] } ?? place
        var user: String?
        if let sign {
            guard let name = unescaped(place[..<sign]) else { return nil }
            user = name
        }
        return internet(
            String(address[..<end.lowerBound]), host: String(host), user: user,
            path: path.isEmpty ? nil : String(path))
    }

    private static func internet(
        _ scheme: String, host: String, user: String?, path: String?
    ) -> Item? {
        let places = try? InternetPlace(scheme: scheme, host: host, path: path)
        guard let place = places ?? nil, !host.isEmpty,
            !host.contains(where: \.isWhitespace)
        else { return nil }
        var attributes = place.attributes(account: user ?? "")
        attributes[.label] = .string(place.host)
        return Item(
            itemClass: .internetPassword, attributes: attributes,
            searches: place.searches(account: user))
    }

    /// Decodes the `%XX` of an address; nil where they are malformed, or give no text.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
