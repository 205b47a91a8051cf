// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// `https://user@host:port/path`, as an internet password has it. What stands before the host is a
/// secret's neighbour, or a secret: it is read apart.
struct WebAddress {
    var server = ""
    /// The four characters of `kSecAttrProtocol`.
    var networkProtocol: String?
    var port: Int?
    /// With what follows it; empty where it is “/” alone.
    var path = ""

    private static let protocols = [
        "http": "http", "https": "htps", "ftp": "ftp ", "ftps": "ftps", "ssh": "ssh ",
        "imap": "imap", "imaps": "imps", "smtp": "smtp", "ldap": "ldap", "ldaps": "ldps",
        "pop3": "pop3", "smb": "smb ", "sftp": "ssh ", "irc": "irc ", "ircs": "ircs",
    ]

    /// nil for what is no address of a known kind. User and password must be cut out already.
    init?(_ text: String) {
        guard let colon = text.range(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard let known = Self.protocols[scheme] else { return nil }
        networkProtocol = known
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard takeHost(String(rest[..<end])) else { return nil }
        let tail = String(rest[end...])
        path = tail == "/" ? "" : tail
    }

    init(host: String) { server = host.lowercased() }

    /// False where there is none.
    private mutating func takeHost(_ text: String) -> Bool {
        var host = text[...]
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
            let digits = host[host.index(after: colon)...]
            guard digits.isEmpty || UInt16(digits) != nil else { return false }
            port = UInt16(digits).map(Int.init)
            host = host[..<colon]
        }
        guard !host.isEmpty, !host.contains(" ") else { return false }
        server = host.lowercased()
        return true
    }

    var attributes: Attributes {
        var attributes: Attributes = [.server: .string(server)]
        attributes[.networkProtocol] = networkProtocol.map(AttributeValue.string)
        attributes[.port] = port.map { .number(Int64($0)) }
        if !path.isEmpty { attributes[.path] = .string(path) }
        return attributes
    }
}

extension String {
    /// The first place of an ASCII text.
    fileprivate func range(of other: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(other) {
                return start..<index(start, offsetBy: other.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
