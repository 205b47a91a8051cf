// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The program that a user's bus starts for `org.freedesktop.secrets`: of the first folder that has a
/// file for the name, as the bus looks for it.
struct BusActivation {
    private static let name = "org.freedesktop.secrets"
    private static let longestFile = 16 * 1024

    /// nil where there is none.
    let program: String?

    /// `data` is the user's own folder.
    init(data: String) {
        let runtime = ProcessEnvironment["XDG_RUNTIME_DIR"].map { [$0] } ?? []
        let shared = (ProcessEnvironment["XDG_DATA_DIRS"] ?? "").split(separator: ":")
        let others = shared.isEmpty ? ["/usr/local/share"] : shared.map(String.init)
        self.init(folders: runtime + [data] + others + ["/usr/share"])
    }

    init(folders: [String]) {
        program = folders.lazy.map { $0 + "/dbus-1/services" }.compactMap(Self.program(in:)).first
    }

    var isOurs: Bool { program.map(Self.isOurs) ?? false }

    /// Whether a program is keychain-secrets. A process whose file its user may not look at is known by the
    /// fifteen letters of its name.
    static func isOurs(_ program: String) -> Bool {
        let name = program.split(separator: "/").last ?? ""
        return ["keychain-secrets", "keychain-secrets-embedded", "keychain-secret"].contains(name)
    }

    private static func program(in folder: String) -> String? {
        FolderNames.all(in: folder).sorted().lazy.filter { $0.hasSuffix(".service") }
            .compactMap {
                try? FileContents(
                    reading: folder + "/" + $0, limit: longestFile, followingLinks: true)
            }
            .compactMap { program(ofFile: String(decoding: $0.bytes, as: UTF8.self)) }
            .first
    }

    /// nil where the file is for another name.
    static func program(ofFile text: String) -> String? {
        let values = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "=", maxSplits: 1).map { $0.trimmed }
        }
        func value(_ key: String) -> String? {
            values.first { $0.count == 2 && $0[0] == key }?.last
        }
        guard value("Name") == name, let command = value("Exec") else { return nil }
        return command.split(separator: " ").first.map(String.init)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
