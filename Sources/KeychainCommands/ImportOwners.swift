// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// The program that an attributed item of another service belongs to, by the pairs that programs
/// are known to give their items. The program of an item that fits no line is unknown.
struct ImportOwners {
    /// Where programs may be: those that are root's files, and that no user can change, count.
    var isInstalled: (String) -> Bool = { TrustedPath.isTrustedAndPublic($0) }

    enum Owner {
        /// A family of `20-desktop-families.yaml`.
        case family(String)
        /// The first of these that is installed.
        case program([String])
    }

    private struct Line {
        var schema: String?
        /// nil: the pair has any value.
        var pairs: [String: [String]?] = [:]
        let owner: Owner

        func fits(_ item: Attributes) -> Bool {
            let isOfSchema = schema.map { item[.schema] == .string($0) } ?? true
            return isOfSchema
                && pairs.allSatisfy { name, values in
                    guard case .string(let value)? = item[.pair(name)] else { return false }
                    return values?.contains(value) ?? true
                }
        }
    }

    private static func browser(_ application: String, _ paths: String...) -> Line {
        Line(pairs: ["application": [application]], owner: .program(paths))
    }

    private static let lines = [
        browser("chrome", "/opt/google/chrome/chrome"),
        browser(
            "chromium", "/usr/lib/chromium/chromium",
            "/usr/lib/chromium-browser/chromium-browser"),
        browser("brave", "/opt/brave.com/brave/brave"),
        browser("code", "/usr/share/code/code"),
        browser("Signal", "/opt/Signal/signal-desktop"),
        // Evolution's data server and all that use it.
        Line(pairs: ["e-source-uid": nil], owner: .family("desktop-accounts")),
        // NetworkManager's agents.
        Line(
            pairs: ["setting-key": nil, "connection-uuid": nil], owner: .family("desktop-networks")),
        // GNOME's online accounts: its settings store what its daemon looks up.
        Line(pairs: ["goa-identity": nil], owner: .family("desktop-networks")),
        Line(pairs: ["gvfs-luks-uuid": nil], owner: .family("desktop-files")),
        // Servers whose files are mounted. Others that use the type name protocols of the web.
        Line(
            schema: "org.gnome.keyring.NetworkPassword",
            pairs: ["protocol": ["afp", "dav", "davs", "ftp", "ftps", "sftp", "smb"]],
            owner: .family("desktop-files")),
        Line(
            schema: "io.docker.Credentials",
            owner: .program(["/usr/bin/docker-credential-secretservice"])),
    ]

    /// All groups of the table: the baseline policy lets the import add to these.
    static var groups: [String] {
        lines.flatMap { line in
            switch line.owner {
            case .family(let name): [name]
            case .program(let paths): paths.map { "exe:" + $0 }
            }
        }
    }

    /// The access group of the item's owner; nil where none is known, or its program is not
    /// installed.
    func group(of item: Attributes) -> String? {
        switch Self.lines.first(where: { $0.fits(item) })?.owner {
        case .family(let name): name
        case .program(let paths): paths.first(where: isInstalled).map { "exe:" + $0 }
        case nil: nil
        }
    }
}
