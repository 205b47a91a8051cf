// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainLinuxSystem
internal import KeychainPolicyModel
internal import PAMSetup
internal import Synchronization

/// The installed PAM services `keychain-NAME`, with the modules that they name, from the folders
/// that libpam reads. Without its file a service is answered by PAM's `other`, and proves nothing.
final class PAMServices: Sendable {
    /// The folders of libpam; a service's file in the first one wins.
    static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]
    private static let prefix = "keychain-"
    private static let longest = 64 * 1024
    /// A service that an administrator adds is noticed after at most this time.
    private static let validFor: Duration = .seconds(2)

    private struct Known {
        var methods: Set<PolicyMethod> = []
        var until: ContinuousClock.Instant?
    }
    private let folders: [String]
    private let known = Mutex(Known())

    init(folders: [String] = folders) { self.folders = folders }

    /// The methods that the installed services can prove.
    func methods() -> Set<PolicyMethod> {
        let now = ContinuousClock.now
        return known.withLock { known in
            if let until = known.until, now < until { return known.methods }
            known.methods = look()
            known.until = now + Self.validFor
            return known.methods
        }
    }

    private func look() -> Set<PolicyMethod> {
        var seen: Set<String> = []
        var usable: Set<String> = []
        for folder in folders {
            // The first folder's file wins.
            for name in FolderNames.all(in: folder)
            where name.hasPrefix(Self.prefix) && seen.insert(name).inserted {
                if Self.hasItsModules(folder + "/" + name) { usable.insert(name) }
            }
        }
        let factors = PolicyMethod.factors.filter { $0.service.map(usable.contains) ?? false }
        return Set(factors + usable.map { .pam(PolicyText($0)) })
    }

    /// Whether every module that the file itself names is installed; included files are not read.
    private static func hasItsModules(_ path: String) -> Bool {
        guard
            let file = try? FileContents(reading: path, limit: longest, followingLinks: true),
            file.kind == .regular, file.bytes.count <= longest
        else { return false }
        let lines = String(decoding: file.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = lines.filter { !$0.hasPrefix("#") }
            .flatMap { $0.split(whereSeparator: \.isWhitespace) }
        return words.filter { $0.hasSuffix(".so") }.allSatisfy { PAMModule.isInstalled(String($0)) }
    }
}
