// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The server of a password, as the attributes of an internet password: `security
/// find-internet-password -s HOST` shows the helpers' items.
struct InternetPlace: Equatable {
    /// The four characters of `kSecAttrProtocol`.
    let code: String
    let usualPort: UInt16
    let host: String
    let port: UInt16?
    /// nil where any path matches.
    let path: String?

    private static let schemes: [String: (code: String, port: UInt16)] = [
        "http": ("http", 80), "https": ("htps", 443), "ftp": ("ftp ", 21), "ftps": ("ftps", 990),
        "imap": ("imap", 143), "imaps": ("imps", 993), "smtp": ("smtp", 25), "ssh": ("ssh ", 22),
    ]

    /// The scheme of a code; nil for the codes of other programs.
    static func scheme(ofCode code: String) -> String? {
        schemes.first { $0.value.code == code }?.key
    }

    /// nil for a scheme without a code. `host` may end in a port.
    init?(scheme: String, host named: String, path: String?) throws(HelperFailure) {
        guard let known = Self.schemes[scheme] else { return nil }
        (code, usualPort) = known
        self.path = path
        // The colons of an IPv6 address are in brackets.
        let colon = named.lastIndex(of: ":").flatMap { colon in
            named[colon...].contains("]") ? nil : colon
        }
        guard let colon else {
            (host, port) = (named, nil)
            return
        }
        host = String(named[..<colon])
        let digits = named[named.index(after: colon)...]
        guard let number = UInt16(digits), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .badInput("the host has a port that is no number below 65536") }
        port = number
    }

    /// The attributes that tell a new item apart from others.
    func attributes(account: String) -> Attributes {
        [
            .server: .string(host), .networkProtocol: .string(code),
            .port: .number(Int64(port ?? 0)), .path: .string(path ?? ""),
            .account: .string(account), .authenticationType: .string("dflt"),
        ]
    }

    /// The attributes of the items to look for, the best ones first. An item without a port is for
    /// the usual port; where no path is given, one without a path comes first.
    func searches(account: String?) -> [Attributes] {
        let usual = Int64(usualPort)
        let given = port.map(Int64.init) ?? 0
        let ports = given == 0 ? [0, usual] : given == usual ? [usual, 0] : [given]
        let paths: [String?] = path.map { [$0] } ?? ["", nil]
        return paths.flatMap { path in
            ports.map { port in
                var attributes: Attributes = [
                    .server: .string(host), .networkProtocol: .string(code),
                    .port: .number(port),
                ]
                attributes[.path] = path.map(AttributeValue.string)
                attributes[.account] = account.map(AttributeValue.string)
                return attributes
            }
        }
    }
}
