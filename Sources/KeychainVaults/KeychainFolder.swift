// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
package import KeychainModel
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// The files of users' keychains: `FOLDER/UID/NAME.keychain` where services keep them for all
/// users, `FOLDER/NAME.keychain` where a program keeps its own user's.
///
/// A folder that serves one user alone opens and makes no other user's keychains. The machine's
/// keychain is root's: a folder that serves another user knows its name, and can't open it.
package final class KeychainFolder: Sendable {
    package enum Layout: Sendable { case folderPerUser, ownUser }

    static let mostKeychains = 32
    /// Open files; beyond it one of the user with the most is closed.
    static let mostOpen = 64

    private struct OpenFile {
        let keychain: OpenKeychain
        let identity: FileIdentity?

        /// Whether the path leads to the file that is open.
        var isStillThere: Bool {
            guard let identity, let found = FileIdentity(keychain.path) else { return false }
            return found == identity
        }
    }
    private struct OpenFiles {
        var files: [KeychainID: OpenFile] = [:]
        var order: [KeychainID] = []

        /// Removes the one that was opened first, of those of the users who have the most: no user
        /// closes the files of others who have fewer.
        mutating func removeOne() -> OpenFile? {
            let counts = order.reduce(into: [UInt32: Int]()) { $0[$1.user, default: 0] += 1 }
            let most = counts.values.max()
            guard let place = order.firstIndex(where: { counts[$0.user] == most }) else {
                return nil
            }
            return files.removeValue(forKey: order.remove(at: place))
        }
    }

    package let path: String
    private let preferences: KeychainPreferenceFiles
    private let layout: Layout
    /// The only user whose keychains are opened here; nil is all.
    private let servedUser: UInt32?
    /// nil where there is no such account.
    private let accountName: @Sendable (UInt32) -> String?
    /// nil where memory is not counted, as in a program's own process.
    private let memory: MemoryBudget?
    private let open = ShortLock(OpenFiles())

    package init(
        _ path: String, layout: Layout, serving user: UInt32? = nil,
        accountName: @escaping @Sendable (UInt32) -> String?, memory: MemoryBudget? = nil
    ) {
        self.memory = memory
        self.path = path
        self.layout = layout
        servedUser = user
        self.accountName = accountName
        preferences = KeychainPreferenceFiles(isShared: layout == .ownUser)
    }

    /// Whether root's keychain for services exists: only where services keep all users' keychains.
    /// It may be open in another process alone.
    package var hasSystemKeychain: Bool { layout == .folderPerUser }

    /// Whether root's keychain for services is opened here.
    package var opensSystemKeychain: Bool { hasSystemKeychain && serves(0) }

    /// Whether the user's keychains are opened here.
    package func serves(_ user: UInt32) -> Bool { servedUser == nil || servedUser == user }

    /// Whether the keychain is opened here, if it exists.
    package func opens(_ id: KeychainID) -> Bool { serves(id.user) }

    private func check(_ user: UInt32) throws(RequestError) {
        guard serves(user) else { throw .failed(.notAvailable) }
    }

    /// The keychain that a user means by the name. The machine's is root's, whichever user names
    /// it.
    package func id(_ name: KeychainName, of user: UInt32) throws(RequestError) -> KeychainID {
        guard name == .system else { return KeychainID(user: user, name: name) }
        guard hasSystemKeychain else { throw .state(.noSuchKeychain) }
        return KeychainID(user: 0, name: name)
    }

    /// The user's keychain of that name; the login keychain without one.
    package func keychain(_ name: String?, of client: UInt32) throws(RequestError) -> OpenKeychain {
        try keychain(id(Self.verified(name), of: client), for: client)
    }

    /// The keychain of that identity.
    package func keychain(_ key: KeychainID, for client: UInt32) throws(RequestError)
        -> OpenKeychain
    {
        try check(key.user)
        let account = try account(of: key.user)
        // The user's number may belong to another account by now.
        if let known = open.withLock({ $0.files[key] }), known.isStillThere,
            known.keychain.file.belongs(to: key.user, called: account)
        {
            return serving(client, known.keychain)
        }
        let (user, name) = (key.user, key.name)
        let path = filePath(name, user)
        let identity = FileIdentity(path)
        let owner = KeychainOwner(user: user, account: account)
        let file: KeychainFile
        do {
            file = try KeychainFile.open(
                at: path, owner: owner, isShared: layout == .ownUser, memory: memory(of: key))
        } catch {
            guard error == .noSuchFile, try isGone(name, user),
                try !KeychainRemains(of: path).isDeleted
            else { throw Self.refusal(error) }
            throw .failed(.keychainGone)
        }
        let keychain = OpenKeychain(key, path: path, file: file)
        remember(OpenFile(keychain: keychain, identity: identity), key)
        return serving(client, keychain)
    }

    /// The machine's keychain serves any user; other keychains are returned unchanged.
    private func serving(_ client: UInt32, _ keychain: OpenKeychain) -> OpenKeychain {
        guard hasSystemKeychain, keychain.isSystem else { return keychain }
        return OpenKeychain(
            keychain.id, path: keychain.path, file: keychain.file.serving(client))
    }

    /// Removes former secrets whose time is over, which takes no key, and returns how many. The
    /// file is open only meanwhile.
    package func removeOldFormerSecrets(
        of key: KeychainID, now: Double
    ) throws(RequestError) -> Int {
        try check(key.user)
        let owner = try owner(key.user)
        do throws(KeychainStoreError) {
            return try KeychainFile.open(
                at: filePath(key.name, key.user), owner: owner, isShared: layout == .ownUser,
                memory: memory(of: key)
            ).removeOldFormerSecrets(now: now)
        } catch { throw RequestError(error) }
    }

    private func memory(of id: KeychainID) -> UserMemory? {
        let user = id.name == .system && hasSystemKeychain ? UserMemory.machine : id.user
        return memory.map { UserMemory(budget: $0, user: user) }
    }

    package func exists(_ name: KeychainName, of user: UInt32) -> Bool {
        // Any file there counts, even if it is no keychain: it must not be overwritten.
        FileIdentity(filePath(name, user)) != nil
    }

    /// Whether the keychain's file is missing while remains of an earlier one exist. The file is
    /// looked for last, as another process may be making it and its first generation meanwhile.
    private func isGone(_ name: KeychainName, _ user: UInt32) throws(RequestError) -> Bool {
        guard try !KeychainRemains(of: filePath(name, user)).isEmpty else { return false }
        return !exists(name, of: user)
    }

    /// Whether no new keychain can have the name.
    package func isTaken(_ name: KeychainName, of user: UInt32) throws(RequestError) -> Bool {
        if exists(name, of: user) { return true }
        return try isGone(name, user)
    }

    /// Makes a new keychain with `creating`. Throws where remains of an earlier one exist, or can't
    /// be looked for.
    package func create<R: ~Copyable>(
        _ name: KeychainName, of user: UInt32,
        _ creating: (String, KeychainOwner) throws(KeychainStoreError) -> R
    ) throws(RequestError) -> R {
        try check(user)
        guard try !isGone(name, user) else { throw .failed(.keychainGone) }
        return try make(name, of: user, creating)
    }

    /// Makes the file with `creating`, in a folder that is the user's alone.
    package func make<R: ~Copyable>(
        _ name: KeychainName, of user: UInt32,
        _ creating: (String, KeychainOwner) throws(KeychainStoreError) -> R
    ) throws(RequestError) -> R {
        try check(user)
        guard names(of: user).count < Self.mostKeychains else { throw .refused(.tooManyRequests) }
        guard !exists(name, of: user) else { throw .state(.duplicateKeychain) }
        let owner = try owner(user)
        try makeFolder(of: user)
        do {
            let path = filePath(name, user)
            let made = try creating(path, owner)
            PrivateFile.remove(KeychainRemains.deletionMark(path))
            return made
        } catch { throw Self.refusal(error) }
    }

    /// Makes the user's folder, which is open to no other user.
    package func makeFolder(of user: UInt32) throws(RequestError) {
        try check(user)
        do { try PrivateFile.folder(folder(user), mode: 0o700) } catch {
            throw RequestError(error)
        }
    }

    /// Names of the user's keychains, the login keychain first.
    package func names(of user: UInt32) -> [KeychainName] {
        guard serves(user) else { return [] }
        let files = FolderNames.all(in: folder(user))
        let ending = ".keychain"
        let names = files.filter { $0.hasSuffix(ending) }.compactMap {
            KeychainName(String($0.dropLast(ending.count)))
        }
        // A file under the name of the machine's keychain is no user's keychain.
        let own = user == 0 && hasSystemKeychain ? names : names.filter { $0 != .system }
        return own.sorted { a, b in
            (a == .login ? 0 : 1, a.description) < (b == .login ? 0 : 1, b.description)
        }
    }

    package func filePath(_ name: KeychainName, _ user: UInt32) -> String {
        folder(user) + "/\(name).keychain"
    }

    /// The path of the device secret: the part of the key to passcode-set items that no backup
    /// contains.
    func deviceSecretPath(_ name: KeychainName, _ user: UInt32) -> String {
        folder(user) + "/\(name).device-secret"
    }

    /// The path of a temporary file beside the keychain.
    package func passingPath(_ kind: String, _ identifier: [UInt8], _ id: KeychainID)
        -> String
    {
        filePath(id.name, id.user) + ".\(kind)-\(identifier.hexadecimal)"
    }

    package static func verified(_ name: String?) throws(RequestError) -> KeychainName {
        guard let name else { return .login }
        guard let verified = KeychainName(name) else { throw .invalid(.badKeychainName) }
        return verified
    }

    package func folder(_ user: UInt32) -> String {
        layout == .ownUser ? path : path + "/\(user)"
    }

    /// The user's preferences for calls that name no keychain.
    package func preferences(of caller: Caller) -> KeychainPreferences {
        let user = caller.user
        let said = preferences.load(for: user, from: folder(user))
        guard user == 0, caller.session == nil, said == .standard,
            case .unit = caller.identity
        else { return said }
        // Root's services have no login that could open another keychain.
        var preferences = said
        preferences.defaultKeychain = .system
        return preferences
    }

    /// Changes the user's preferences. Of two changes at once, in two threads or two processes, the
    /// later one begins with what the earlier one wrote: neither is lost.
    package func changePreferences(
        of caller: Caller, _ change: (inout KeychainPreferences) throws(RequestError) -> Void
    ) throws(RequestError) {
        let user = caller.user
        try makeFolder(of: user)
        let lock = try KeychainPreferenceFiles.lock(in: folder(user))
        try withExtendedLifetime(lock) { () throws(RequestError) in
            var changed = preferences(of: caller)
            try change(&changed)
            try preferences.save(changed, for: user, in: folder(user))
        }
    }

    package func owner(_ user: UInt32) throws(RequestError) -> KeychainOwner {
        KeychainOwner(user: user, account: try account(of: user))
    }

    private func account(of user: UInt32) throws(RequestError) -> String {
        guard let account = accountName(user) else { throw .refused(.notEntitled) }
        return account
    }

    /// Every keychain of every user who is served.
    package func keychains() -> [KeychainID] {
        users().flatMap { user in
            names(of: user).map { KeychainID(user: user, name: $0) }
        }
    }

    /// Every keychain of these users whose file is missing while other files beside its place
    /// exist.
    package func keychainsWithoutFile() -> [KeychainID] {
        users().flatMap { user in
            let files = FolderNames.all(in: folder(user))
            return Set(files.compactMap(KeychainRemains.keychain(of:)))
                .subtracting(names(of: user))
                .map { KeychainID(user: user, name: $0) }
        }
    }

    /// The names of the files beside the place of each keychain of these users. Each folder is
    /// listed once: its user decides how many files it has.
    package func filesBesideKeychains() -> [KeychainID: [String]] {
        var files: [KeychainID: [String]] = [:]
        for user in users() {
            for file in (try? FolderNames.complete(in: folder(user))) ?? [] {
                guard let name = KeychainRemains.keychain(of: file) else { continue }
                files[KeychainID(user: user, name: name), default: []].append(file)
            }
        }
        return files
    }

    private func users() -> [UInt32] {
        switch layout {
        case .ownUser: [geteuid()]
        case .folderPerUser:
            if let servedUser {
                [servedUser]
            } else {
                FolderNames.all(in: path).compactMap(UInt32.init)
            }
        }
    }

    package func forget(_ id: KeychainID) {
        let closed = open.withLock { open in
            open.order.removeAll { $0 == id }
            return open.files.removeValue(forKey: id)
        }
        withExtendedLifetime(closed) {}
    }

    private func remember(_ file: OpenFile, _ key: KeychainID) {
        // Files are closed outside the lock, which every request takes.
        let closed = open.withLock { open in
            let old = open.files.updateValue(file, forKey: key)
            if old == nil { open.order.append(key) }
            guard open.order.count > Self.mostOpen else { return old }
            return open.removeOne()
        }
        withExtendedLifetime(closed) {}
    }

    package static func refusal(_ error: any Error) -> RequestError {
        switch error {
        case let refusal as RequestError: refusal
        case let error as KeychainStoreError: RequestError(error)
        default: .failed(.internalError)
        }
    }
}

/// Users' preferences for calls that name no keychain: a text file in each user's folder.
///
/// The daemon is the only process that writes, and reads each file once. In embedded mode other
/// processes write too, and each call reads anew.
package final class KeychainPreferenceFiles: Sendable {
    /// Users whose preferences are remembered.
    private static let mostKnown = 1024
    private static let longest = 16 * 1024
    private static let firstLine = "keychain preferences 1"
    /// How long a change waits for another one.
    private static let patience: Duration = .seconds(10)

    private let isShared: Bool
    private let known = ShortLock<[UInt32: KeychainPreferences]>([:])

    init(isShared: Bool) { self.isShared = isShared }

    /// A malformed file counts as no preferences.
    package func load(
        for user: UInt32, from folder: @autoclosure () -> String
    ) -> KeychainPreferences {
        if let known = known.withLock({ $0[user] }) { return known }
        let preferences = Self.text(at: Self.path(folder())).flatMap(Self.preferences) ?? .standard
        // What was saved since the file was read is newer.
        remember(preferences, of: user, replacing: false)
        return preferences
    }

    private static func text(at path: String) -> String? {
        guard let kept = try? PrivateFile.read(path, limit: longest) else { return nil }
        return String(decoding: kept.releasedFromLockedMemory(), as: UTF8.self)
    }

    /// Locks the preferences of the user's folder until the descriptor is closed.
    static func lock(in folder: String) throws(RequestError) -> Descriptor {
        do { return try Descriptor.locking(path(folder) + ".lock", patience: patience) } catch {
            throw RequestError(error)
        }
    }

    /// The caller holds the lock.
    func save(
        _ preferences: KeychainPreferences, for user: UInt32, in folder: String
    ) throws(RequestError) {
        let path = Self.path(folder)
        let new = path + ".new"
        // A write that was cut off left it. There is no secret in it to overwrite.
        FolderNames.remove(new)
        do {
            try PrivateFile.create(
                new, contents: SecretBytes(copying: Array(Self.text(preferences).utf8)))
            try PrivateFile.publish(new, as: path, replacing: true)
        } catch { throw RequestError(error) }
        remember(preferences, of: user, replacing: true)
    }

    private func remember(
        _ preferences: KeychainPreferences, of user: UInt32, replacing: Bool
    ) {
        guard !isShared else { return }
        known.withLock { known in
            guard replacing || known[user] == nil else { return }
            if known.count >= Self.mostKnown { known.removeAll() }
            known[user] = preferences
        }
    }

    private static func path(_ folder: String) -> String { folder + "/preferences" }

    // MARK: The text

    package static func text(_ preferences: KeychainPreferences) -> String {
        let named = preferences.defaultKeychain.map { ["default \($0)"] } ?? []
        let aliases = preferences.aliases.sorted { $0.key < $1.key }.map {
            "alias \($0.key) \($0.value)"
        }
        let lines = [firstLine] + named + preferences.searchList.map { "search \($0)" } + aliases
        return lines.joined(separator: "\n") + "\n"
    }

    /// nil for anything that `text` does not give.
    package static func preferences(_ text: String) -> KeychainPreferences? {
        var preferences = KeychainPreferences(defaultKeychain: nil, searchList: [])
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == firstLine[...], lines.popLast() == "" else { return nil }
        for line in lines {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            // Safe: splitting gives one word at least.
            guard let name = KeychainName(String(words[words.count - 1])) else { return nil }
            // Safe: the count is looked at with the word.
            switch (words[0], words.count) {
            case ("default", 2) where preferences.defaultKeychain == nil:
                preferences.defaultKeychain = name
            case ("search", 2) where !preferences.searchList.contains(name):
                preferences.searchList.append(name)
            case ("alias", 3):
                // Safe: there are three.
                let alias = String(words[1])
                guard KeychainPreferences.isAlias(alias), preferences.aliases[alias] == nil else {
                    return nil
                }
                preferences.aliases[alias] = name
            default: return nil
            }
        }
        return preferences.searchList.count <= KeychainPreferences.mostSearched
            && preferences.aliases.count <= KeychainPreferences.mostAliases
            ? preferences : nil
    }
}
