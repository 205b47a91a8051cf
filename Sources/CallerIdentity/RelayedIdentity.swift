// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// Identifies a program that a deputy relays (docs/design/identity.md, Relayed programs).
///
/// The deputy learns its peers from a bus, which is a process of the same user: so a name is worth
/// no more than a path. Programs that no other program of their user can take over (with rights of
/// their own, services, confined domains) have no name here, as a bus that lies could lend it.
enum RelayedIdentity {
    /// The access group of all programs that can't be told apart.
    static let unidentified = "bus:unidentified"

    static func identity(
        of process: PinnedProcess, running program: ProgramLook, _ looks: any ProcessLooks
    ) -> Caller.Identity {
        guard let credentials = process.credentials(), !credentials.hasForeignRights,
            let path = program.path
        else { return .unknown }
        guard let executable = program.executable else { return ofUsersFileSystem(path, program) }
        if FlatpakProxy.isProxy(executable) {
            return FlatpakProxy.application(of: process, looks).map { .sandbox("flatpak:" + $0) }
                ?? .unknown
        }
        guard program.isAtItsPath else { return .unknown }
        if let snap = process.securityLabel().snap(program) { return .label(snap) }
        guard program.isInOurNamespaces, program.rights == .none else { return .unknown }
        if let name = MovingPath.name(path) { return .executable(name) }
        return program.isTrusted ? .trustedExecutable(path) : .executable(path)
    }

    /// The identity of a file on its user's own file system, which shows it to no other user: only
    /// the path is known.
    private static func ofUsersFileSystem(
        _ path: String, _ program: ProgramLook
    ) -> Caller.Identity {
        guard program.isInOurNamespaces, let name = MovingPath.name(path) else { return .unknown }
        return .executable(name)
    }
}

/// Paths that change while the program stays the same: the changing part is left out.
enum MovingPath {
    private static let imageMark = ".mount_"
    /// The length of mkdtemp's random part, at the end of a folder's name.
    private static let randomLetters = 6
    private static let store = "/nix/store/"
    private static let hashLetters = 32
    private static let hashAlphabet = Set("0123456789abcdfghijklmnpqrsvwxyz".utf8)

    /// nil for a path that does not change.
    static func name(_ path: String) -> String? { storePath(path) ?? imagePath(path) }

    /// `/nix/store/HASH-NAME/…`: any user can add such folders, and each version has another hash.
    private static func storePath(_ path: String) -> String? {
        guard path.hasPrefix(store) else { return nil }
        let rest = path.dropFirst(store.count)
        let hash = rest.utf8.prefix { $0 != UInt8(ascii: "-") }
        guard hash.count == hashLetters, hash.allSatisfy(hashAlphabet.contains) else { return nil }
        let name = rest.dropFirst(hashLetters + 1)
        return name.isEmpty || name.hasPrefix("/") ? nil : store + name
    }

    /// `/tmp/.mount_`, a name and six letters: where an AppImage mounts itself at each start.
    private static func imagePath(_ path: String) -> String? {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let place = parts.firstIndex {
            $0.hasPrefix(imageMark) && $0.utf8.count > imageMark.utf8.count + randomLetters
        }
        guard let place, place < parts.count - 1 else { return nil }
        // Safe: the index is that of a part.
        let folder = parts[place]
        guard folder.utf8.suffix(randomLetters).allSatisfy(\.isLetterOrDigit) else { return nil }
        // Safe: as above; as many letters, of one byte each, were counted.
        parts[place] = String(folder.dropLast(randomLetters))
        return parts.joined(separator: "/")
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

/// Flatpak's programs reach a bus through a proxy in a sandbox of its own, with a file at its root
/// that names the application. Any program outside sandboxes can present such a file, and none
/// inside one.
///
/// The proxy is never the requesting program. A proxy whose file names no application, as other
/// sandboxes start it, stands for programs that can't be told apart: by its own path they would all
/// be one program of root's, and share its items.
enum FlatpakProxy {
    private static let programs = ["/usr/bin/xdg-dbus-proxy", "/usr/libexec/xdg-dbus-proxy"]
    private static let longestFile = 64 * 1024
    private static let longestName = 255

    static func isProxy(_ executable: ExecutableFacts) -> Bool {
        programs.contains { isInstalled($0, executable) }
    }

    /// The application that the file at the proxy's root names; nil where there is none.
    static func application(of proxy: PinnedProcess, _ looks: any ProcessLooks) -> String? {
        guard let bytes = looks.sandboxFile(of: proxy)?.contents(limit: longestFile),
            bytes.count < longestFile
        else { return nil }
        return application(String(decoding: bytes, as: UTF8.self))
    }

    private static func isInstalled(_ path: String, _ executable: ExecutableFacts) -> Bool {
        TrustedPath.isTrusted(
            ExecutableFacts(path: path, device: executable.device, inode: executable.inode))
    }

    /// `name` in `[Application]`, where it occurs exactly once.
    static func application(_ text: String) -> String? {
        var group: Substring = ""
        var names: [Substring] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                group = line
            } else if group == "[Application]", line.hasPrefix("name=") {
                names.append(line.dropFirst("name=".count))
            }
        }
        guard names.count == 1, let name = names.first, isName(name) else { return nil }
        return String(name)
    }

    /// Whether it is a valid Flatpak name: at least three parts, none of which begins with a digit.
    private static func isName(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= longestName && parts.count >= 3
            && parts.allSatisfy { part in
                part.utf8.allSatisfy {
                    $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                } && !(part.first?.isNumber ?? true)
            }
    }
}
