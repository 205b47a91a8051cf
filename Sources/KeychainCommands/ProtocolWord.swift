// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// A network protocol by the name people use; stored as the four characters of `kSecAttrProtocol`.
struct ProtocolWord: ExpressibleByArgument, Equatable {
    let code: String

    init?(argument: String) {
        guard let found = Self.words.first(where: { $0.name == argument }) else { return nil }
        code = found.code
    }

    /// Too many for a screen; keychainctl(1) has them.
    static var allValueStrings: [String] { [] }
    static var defaultCompletionKind: CompletionKind { .list(words.map(\.name)) }
    var defaultValueDescription: String { code }

    /// The code itself where there is no name for it.
    static func name(ofCode code: String) -> String {
        words.first { $0.code == code }?.name ?? code
    }

    private static let words: [(name: String, code: String)] = [
        ("afp", "afp "), ("appletalk", "atlk"), ("daap", "daap"), ("eppc", "eppc"),
        ("ftp", "ftp "), ("ftp-account", "ftpa"), ("ftp-proxy", "ftpx"), ("ftps", "ftps"),
        ("http", "http"), ("http-proxy", "htpx"), ("https", "htps"), ("https-proxy", "htsx"),
        ("imap", "imap"), ("imaps", "imps"), ("ipp", "ipp "), ("irc", "irc "), ("ircs", "ircs"),
        ("ldap", "ldap"), ("ldaps", "ldps"), ("nntp", "nntp"), ("nntps", "ntps"),
        ("pop3", "pop3"), ("pop3s", "pops"), ("rtsp", "rtsp"), ("rtsp-proxy", "rtsx"),
        ("smb", "smb "), ("smtp", "smtp"), ("socks", "sox "), ("ssh", "ssh "),
        ("telnet", "teln"), ("telnets", "tels"),
    ]
}
