// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// `https://user@host:port/path`, as an internet password has it. The part before the host may have
/// a secret and is read separately.
struct WebAddress {
    var server = ""
    /// The four characters of `kSecAttrProtocol`.
    var networkProtocol: String?
    var port: Int?
    /// The path with query and fragment; empty for “/” alone.
    var path = ""

    private static let protocols = [
        "http": "http", "https": "htps", "ftp": "ftp ", "ftps": "ftps", "ssh": "ssh ",
        "imap": "imap", "imaps": "imps", "smtp": "smtp", "ldap": "ldap", "ldaps": "ldps",
        "pop3": "pop3", "smb": "smb ", "sftp": "ssh ", "irc": "irc ", "ircs": "ircs",
    ]

    /// nil for text that is no address of a known kind. User and password must have been removed.
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

    /// Returns false where there is no host.
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
    /// The first range of an ASCII text.
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
