// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// The file by which xdg-desktop-portal asks org.freedesktop.secrets for the secrets of sandboxed
/// applications: the package's, or gnome-keyring's, which names the same service.
struct PortalFile {
    private static let interface = "org.freedesktop.impl.portal.Secret"
    private static let service = "org.freedesktop.secrets"
    private static let longestFile = 16 * 1024

    /// nil where there is none.
    let path: String?

    /// In the folders that xdg-desktop-portal reads; `data` is the user's own.
    init(data: String) {
        let shared = (ProcessEnvironment["XDG_DATA_DIRS"] ?? "").split(separator: ":")
        let others = shared.isEmpty ? ["/usr/local/share"] : shared.map(String.init)
        let folders = ([data] + others + ["/usr/share"]).map { $0 + "/xdg-desktop-portal/portals" }
        self.init(folders: (ProcessEnvironment["XDG_DESKTOP_PORTAL_DIR"].map { [$0] } ?? folders))
    }

    init(folders: [String]) {
        let files = folders.flatMap { folder in
            FolderNames.all(in: folder).sorted().map { folder + "/" + $0 }
        }
        path = files.first { $0.hasSuffix(".portal") && Self.asksHere($0) }
    }

    /// Whether there is a portal to read it.
    static var isPortalInstalled: Bool {
        PortalApplication.portals.contains { FileStatus($0) != nil }
    }

    private static func asksHere(_ path: String) -> Bool {
        guard
            let file = try? FileContents(
                reading: path, limit: longestFile, followingLinks: true)
        else { return false }
        return asksHere(text: String(decoding: file.bytes, as: UTF8.self))
    }

    static func asksHere(text: String) -> Bool {
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "=", maxSplits: 1)
        }
        func values(_ key: String) -> [Substring] {
            lines.first { $0.count == 2 && $0[0] == key }?.last?.split(separator: ";") ?? []
        }
        return values("DBusName") == [service[...]] && values("Interfaces").contains(interface[...])
    }
}
