// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// What OpenSSH, git and sudo ask an askpass program for, read from the words of their prompts.
struct AskpassPrompt {
    enum Kind: Equatable {
        /// Not shown while it is typed.
        case secret
        /// A user's name, and such.
        case plain
        /// The answer is `yes`, `no` or a fingerprint, in words.
        case question
    }

    /// Where a password is kept.
    struct Item: Equatable {
        let itemClass: ItemClass
        /// Those that new items have; what they are told apart by is in all of `searches`.
        let attributes: Attributes
        /// The best ones first.
        let searches: [Attributes]
        /// Whether the user is asked about keeping it. An answer to sudo is the password of the
        /// account: it is kept only where the user says so on purpose.
        var isOffered = true
    }

    private(set) var kind = Kind.secret
    /// nil for what is never kept: PINs, one-time passwords, and all that is not known.
    private(set) var item: Item?
    /// The answer before was wrong.
    private(set) var isRepeated = false

    /// Longer names are cut by ssh, so that two keys would have one prompt.
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

    /// As ssh-add of macOS keeps a passphrase.
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
            attributes: key.merging([.label: .string(label)]) { $1 }, searches: [key])
    }

    private static func login(_ account: String) -> Item? {
        guard let sign = account.lastIndex(of: "@"), sign > account.startIndex else { return nil }
        return internet(
            "ssh", host: String(account[account.index(after: sign)...]),
            user: String(account[..<sign]), path: nil)
    }

    /// Of git's prompts: `https://USER@HOST:PORT/PATH`.
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

    /// Without the `%XX` of an address; nil where these are none, or no text.
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
