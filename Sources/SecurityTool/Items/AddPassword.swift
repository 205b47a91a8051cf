// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// `add-generic-password`, `add-internet-password`.
struct AddPassword {
    let itemClass: ItemClass
    let options: Options
    let session: Session

    static func generic() -> Command {
        Command(
            "add-generic-password",
            """
            -a account -s service [-c creator] [-C type] [-D kind] [-G value] [-j comment] \
            [-l label] [-p password | -w password | -X hex] [-A] [-T application]... [-U] \
            [keychain]
            """,
            """
            Add a generic password. With -p or -w as the last word, without a value, it is asked \
            for; other users of the machine may see what stands on the command line.
            """,
            letters: PasswordMatch.letters(.genericPassword) + "p?w?X:AT:U", hiding: "pwX"
        ) { options, session throws(CommandFailure) in
            try AddPassword(itemClass: .genericPassword, options: options, session: session).run()
        }
    }

    static func internet() -> Command {
        Command(
            "add-internet-password",
            """
            -s server [-a account] [-c creator] [-C type] [-d securityDomain] [-D kind] \
            [-j comment] [-l label] [-p path] [-P port] [-r protocol] [-t authenticationType] \
            [-w password | -X hex] [-A] [-T application]... [-U] [keychain]
            """,
            """
            Add an internet password. With -w as the last word, without a value, it is asked for; \
            other users of the machine may see what stands on the command line.
            """,
            letters: PasswordMatch.letters(.internetPassword) + "w?X:AT:U", hiding: "wX"
        ) { options, session throws(CommandFailure) in
            try AddPassword(itemClass: .internetPassword, options: options, session: session).run()
        }
    }

    private var isGeneric: Bool { itemClass == .genericPassword }

    private func run() throws(CommandFailure) {
        let match = try PasswordMatch(options, itemClass)
        guard match.attributes[isGeneric ? .service : .server] != nil,
            !isGeneric || match.attributes[.account] != nil, options.words.count <= 1
        else { throw .usage }
        let trusted = try TrustedPrograms(options, session).named
        let secret = try self.secret()
        let attributes = completed(match.attributes)
        if options.has("U"), try update(match, attributes, secret) { return }
        var item = NewItem(itemClass)
        item.keychain = options.words.first.map { KeychainWord($0).name }
        item.attributes = attributes
        item.trusted = trusted
        do throws(RequestError) {
            _ = try session.send(Add(item, secret: secret, returning: []))
        } catch {
            let call = isGeneric ? CallName.addGeneric : CallName.addInternet
            throw CommandFailure(error, call, detail)
        }
    }

    private var detail: String {
        isGeneric
            ? "(\(options.words.first ?? "<default>"))" : options.words.first ?? "<NULL>"
    }

    /// Adds the defaults: the service or the server as the label, and the type of authentication.
    private func completed(_ given: Attributes) -> Attributes {
        var attributes = given
        let name = isGeneric ? AttributeName.service : .server
        attributes[.label] = given[.label] ?? given[name]
        if !isGeneric {
            attributes[.authenticationType] = given[.authenticationType] ?? .string("dflt")
        }
        return attributes
    }

    /// The secret of the last option that sets one, in the table's order; without one, an empty
    /// secret.
    private func secret() throws(CommandFailure) -> HeldSecret {
        if let digits = options["X"] {
            guard let bytes = HexDigits.bytes(digits) else {
                throw .badArguments("-X takes hexadecimal digits: 0-9, a-f, A-F")
            }
            return HeldSecret(SecretBytes(copying: bytes))
        }
        let letters: [Character] = isGeneric ? ["w", "p"] : ["w"]
        for letter in letters where options.has(letter) {
            guard let text = options[letter] else {
                return try PasswordPrompt.new(
                    "password data for new item: ", "retype password for new item: ")
            }
            return PasswordPrompt.given(text)
        }
        return HeldSecret(SecretBytes(copying: []))
    }

    /// Returns whether an item was updated. Where it can't be updated, it is added as if there were
    /// none.
    private func update(
        _ match: PasswordMatch, _ attributes: Attributes, _ secret: HeldSecret
    ) throws(CommandFailure) -> Bool {
        var query = ItemQuery(itemClass)
        query.synchronizable = .any
        let key: [AttributeName] =
            isGeneric
            ? [.account, .service]
            : [
                .account, .securityDomain, .server, .networkProtocol, .authenticationType, .port,
                .path,
            ]
        query.attributes = attributes.filter { key.contains($0.key) }
        query.returnFields = .persistentReference
        do throws(RequestError) {
            guard let found = try session.items(query, in: options.words).first else {
                return false
            }
            var change = ItemChange()
            change.attributes = match.attributes
            _ = try session.send(Update(found.query, change, secret: secret))
            return true
        } catch { return false }
    }
}

/// Hexadecimal secrets on the command line.
enum HexDigits {
    /// An odd number of digits gets a zero in front; nil for other characters.
    static func bytes(_ text: String) -> [UInt8]? {
        var digits = text.utf8.map { $0 }
        if digits.count % 2 == 1 { digits.insert(UInt8(ascii: "0"), at: 0) }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[place]), let low = value(digits[place + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
