// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// A credential in git's form (git-credential(1)): lines `KEY=VALUE` up to an empty one or the end.
/// Unknown keys are ignored, as git requires.
struct GitCredential {
    private(set) var scheme: String?
    private(set) var host: String?
    private(set) var path: String?
    private(set) var username: String?
    private(set) var password: HeldSecret?
    private(set) var refreshToken: HeldSecret?
    /// Seconds since 1970.
    private(set) var expiry: Int64?
    /// Whether this git returns the state that a helper sends, as versions from 2.46 on do.
    private(set) var keepsState = false
    /// Whether the password is one that this helper sent before.
    private(set) var isKnown = false

    static let stateCapability = "capability[]=state\n"
    static let known = "keychain:told=1"

    private static let longestKey = 256
    private static let mostLines = 4096

    init(_ input: HeldSecret) throws(HelperFailure) {
        var start = 0
        let count = input.bytes.count
        for _ in 0..<Self.mostLines {
            guard start < count else { return }
            var line = SecretCursor(input, start..<count)
            while let byte = line.peeked, byte != 0x0A { _ = line.next() }
            let end = line.place
            // git ends its input with an empty line, or closes the pipe.
            guard end > start else { return }
            try take(input, start..<end)
            start = end + 1
        }
        throw .badInput("the request has more lines than git ever says")
    }

    private mutating func take(_ input: HeldSecret, _ line: Range<Int>) throws(HelperFailure) {
        var cursor = SecretCursor(input, line)
        var key = ""
        while let byte = cursor.next(), byte != UInt8(ascii: "=") {
            guard (0x21...0x7E).contains(byte), key.utf8.count < Self.longestKey else {
                throw .badInput("a line of the request begins with no key of git's")
            }
            key.unicodeScalars.append(Unicode.Scalar(byte))
        }
        guard !key.isEmpty, cursor.place > line.lowerBound + key.utf8.count else {
            throw .badInput("a line of the request is no KEY=VALUE, or is cut off")
        }
        let value = HeldSecret(input.bytes.part(cursor.place..<line.upperBound))
        guard !value.contains(0) else { throw .badInput("the request has a NUL in it") }
        switch key {
        case "protocol": scheme = try Self.plain(value, key)
        case "host": host = try Self.plain(value, key)
        case "path": path = try Self.plain(value, key)
        case "username": username = try Self.plain(value, key)
        case "password": password = value
        case "oauth_refresh_token": refreshToken = value
        case "password_expiry_utc":
            expiry = try Self.plain(value, key).flatMap { Int64($0) }
        case "capability[]": keepsState = try Self.plain(value, key) == "state" || keepsState
        case "state[]": isKnown = try Self.plain(value, key) == Self.known || isKnown
        default: break
        }
    }

    private static func plain(_ value: HeldSecret, _ key: String) throws(HelperFailure) -> String? {
        guard !value.contains(0x0D) else {
            throw .badInput("the value of “\(key)” ends in CR, and git's lines end in LF alone")
        }
        guard let text = value.plainText else {
            throw .badInput("the value of “\(key)” is no text, or too long")
        }
        return text
    }

    /// nil where the helper stores nothing of that kind, or git sent too little.
    func place() throws(HelperFailure) -> InternetPlace? {
        guard let scheme, let host, !host.isEmpty else { return nil }
        return try InternetPlace(scheme: scheme, host: host, path: path)
    }
}

/// The secret of one of git's items: the password, and below it the values that belong to it, each
/// as a line in git's form. A password without such values is the whole secret, as other programs
/// store one.
struct GitSecret {
    let password: HeldSecret
    private(set) var refreshToken: HeldSecret?
    private(set) var expiry: Int64?

    private static let refresh = "oauth_refresh_token="
    private static let expires = "password_expiry_utc="

    init(_ credential: GitCredential, password: HeldSecret) {
        self.password = password
        refreshToken = credential.refreshToken
        expiry = credential.expiry
    }

    /// nil where it has lines that can't be sent to git.
    init?(stored: HeldSecret) {
        guard !stored.contains(0) else { return nil }
        // An empty password has no line at all.
        let lines = stored.bytes.lines()
        password = lines.first ?? HeldSecret(text: "")
        for line in lines.dropFirst() {
            if line.hasPrefix(Self.refresh) {
                refreshToken = Self.rest(line, behind: Self.refresh)
            } else if line.hasPrefix(Self.expires) {
                expiry = Self.rest(line, behind: Self.expires).plainText.flatMap { Int64($0) }
            } else {
                return nil
            }
        }
    }

    private static func rest(_ line: HeldSecret, behind key: String) -> HeldSecret {
        HeldSecret(line.bytes.part(key.utf8.count..<line.bytes.count))
    }

    var stored: HeldSecret {
        guard refreshToken != nil || expiry != nil else { return password }
        var text = SecretText()
        text.append(password)
        if let expiry { text.append("\n\(Self.expires)\(expiry)") }
        if let refreshToken {
            text.append("\n\(Self.refresh)")
            text.append(refreshToken)
        }
        return text.joined()
    }

    /// Whether the stored secret can stay instead of this one. git before 2.41 never returns the
    /// token and the expiry: where it sends neither, the stored ones of the same password stay,
    /// unless that password has expired.
    func isKept(in stored: HeldSecret, now: Int64) -> Bool {
        if stored.bytes.matches(self.stored.bytes) { return true }
        guard refreshToken == nil, expiry == nil, let kept = GitSecret(stored: stored) else {
            return false
        }
        return kept.password.bytes.matches(password.bytes) && !kept.isOver(at: now)
    }

    private func isOver(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }

    /// The lines for git. Versions of git without expiry would use an expired password, so it is
    /// left out then. The mark of a sent password is left out too: git would return it with the
    /// password that replaces it, which must be stored.
    func lines(account: String, now: Int64, keepsState: Bool = false) -> SecretText {
        let isOver = isOver(at: now)
        // git's capabilities come first.
        var text = SecretText(
            keepsState && !isOver
                ? "\(GitCredential.stateCapability)state[]=\(GitCredential.known)\n" : "")
        text.append("username=\(account)\n")
        if !isOver {
            text.append("password=")
            text.append(password)
            text.append("\n")
            if let expiry { text.append("\(Self.expires)\(expiry)\n") }
        }
        if let refreshToken {
            text.append(Self.refresh)
            text.append(refreshToken)
            text.append("\n")
        }
        return text
    }
}
