// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets
internal import Synchronization

/// The key that a user's records are sealed under, as long as it is not forgotten.
package protocol RecordKeys: Sendable {
    /// nil where it was forgotten, or never made.
    var presentRecordKey: RecordKey? { get }
    /// Makes it where there is none.
    var recordKey: RecordKey { get }
}

/// Seals a user's records. It can be computed from the user's vault key, and not the other way.
package final class RecordKey: Sendable {
    /// Tells this key from the ones before and after it.
    fileprivate let number = UInt64.random(in: .min ... .max)
    fileprivate let sealing: SealingKey

    package init(from vaultKey: borrowing SealingKey) {
        sealing = vaultKey.derived(for: "a user's records")
    }
}

/// Records of one user that outlive this process and end with the boot: files of this process's own
/// number in memory, which count among no keys of the kernel's.
///
/// What was proven is sealed for its name, its user and its time. A record whose key was forgotten
/// is none. Facts that must be known without a key, and are no secret, are kept plain: the folder
/// is closed to others.
///
/// No other process changes the folder, so that what is there is known without a look at it.
package final class SealedRecords: Sendable {
    /// More than a user's proofs, session trust and logins together.
    static let most = 256
    private static let longestName = 255
    private static let longestContent = 96 * 1024

    fileprivate struct Entry {
        let ends: Duration?
        /// The number of its key; nil for a plain one.
        let key: UInt64?
    }

    private let folder: String
    private let user: UInt32
    private let keys: any RecordKeys
    private let boot = RecordHead.currentBoot()
    private let entries: ShortLock<[String: Entry]>
    /// Held while a file and its entry change.
    private let changing = Mutex(())

    /// Makes the folder where it is missing. What is in it and can't be read is removed.
    package init(
        folder: String, of user: UInt32, key keys: any RecordKeys
    ) throws(RequestError) {
        self.folder = folder
        self.user = user
        self.keys = keys
        entries = ShortLock([:])
        do { try PrivateFile.folder(folder, mode: 0o700) } catch { throw .failed(.notAvailable) }
        let key = keys.presentRecordKey
        for file in FolderNames.all(in: folder) {
            guard let head = head(inFile: file), let entry = entry(head, key) else {
                PrivateFile.remove(folder + "/" + file)
                continue
            }
            entries.withLock { $0[head.name] = entry }
        }
        removeOver()
    }

    private func head(inFile file: String) -> RecordHead? {
        guard let kept = try? PrivateFile.read(folder + "/" + file, limit: Self.longestFile),
            let head = RecordHead(kept, of: boot), Self.file(head.name) == file
        else { return nil }
        return head
    }

    /// nil where the record is over, or can't be opened.
    private func entry(_ head: RecordHead, _ key: RecordKey?) -> Entry? {
        guard head.isSealed else { return Entry(ends: head.ends, key: nil) }
        guard let key, content(head.name, under: key) != nil else { return nil }
        return Entry(ends: head.ends, key: key.number)
    }

    // MARK: Sealed

    package func users() -> [UInt32] { [user] }

    /// Names of all records that are not over, plain ones too.
    package func names(of user: UInt32) throws(RequestError) -> [String] {
        guard user == self.user else { return [] }
        let key = keys.presentRecordKey
        let now = Self.now
        return entries.withLock { entries in
            entries.filter { $0.value.isGood(now, key) }.map(\.key)
        }
    }

    package func read(_ name: String, of user: UInt32) -> SecretBytes? {
        guard let key = keys.presentRecordKey, holds(name, of: user) else { return nil }
        return content(name, under: key)
    }

    /// Whether there is a sealed record of that name now.
    package func holds(_ name: String, of user: UInt32) -> Bool {
        guard let entry = entry(name, of: user) else { return false }
        return entry.key != nil && entry.isGood(Self.now, keys.presentRecordKey)
    }

    /// Seals a record, which ends after that time. It counts sleep, and no clock that can be set.
    package func write(
        _ name: String, _ content: borrowing SecretBytes, of user: UInt32,
        timeoutSeconds: UInt32?
    ) throws(RequestError) {
        let ends = timeoutSeconds.map { Self.now + .seconds($0) }
        // Made before the lock is taken: another process may be asked to keep it.
        try write(name, content, of: user, ends, under: keys.recordKey)
    }

    // MARK: Plain

    package func readPlain(_ name: String, of user: UInt32) -> SecretBytes? {
        guard let entry = entry(name, of: user), entry.key == nil else { return nil }
        return content(name, under: nil)
    }

    package func writePlain(
        _ name: String, _ content: borrowing SecretBytes, of user: UInt32
    ) throws(RequestError) {
        try write(name, content, of: user, nil, under: nil)
    }

    // MARK: Removing

    package func remove(_ name: String, of user: UInt32) {
        guard user == self.user else { return }
        remove { meant, _ in meant == name }
    }

    /// Removes records whose time is over, and those whose key was forgotten.
    package func removeOver() {
        let key = keys.presentRecordKey
        let now = Self.now
        remove { !$1.isGood(now, key) }
    }

    // MARK: Files

    private func entry(_ name: String, of user: UInt32) -> Entry? {
        user == self.user ? entries.withLock { $0[name] } : nil
    }

    private func remove(where isMeant: (String, Entry) -> Bool) {
        changing.withLock { _ in
            let meant = entries.withLock { entries in
                entries.filter { isMeant($0.key, $0.value) }.map(\.key)
            }
            for name in meant {
                entries.withLock { $0[name] = nil }
                PrivateFile.remove(path(name))
            }
        }
    }

    private func write(
        _ name: String, _ content: borrowing SecretBytes, of user: UInt32, _ ends: Duration?,
        under key: RecordKey?
    ) throws(RequestError) {
        guard user == self.user, (1...Self.longestName).contains(name.utf8.count),
            content.count <= Self.longestContent
        else { throw .failed(.notAvailable) }
        removeOver()
        let head = RecordHead(name: name, isSealed: key != nil, ends: ends)
        let file = sealed(content, head, key)
        try changing.withLock { _ throws(RequestError) in
            let hasRoom = entries.withLock { $0[name] != nil || $0.count < Self.most }
            guard hasRoom else { throw .refused(.tooManyRequests) }
            do throws(SystemError) { try PrivateFile.replace(path(name), contents: file) } catch {
                throw .failed(.notAvailable)
            }
            let entry = Entry(ends: head.ends, key: key?.number)
            entries.withLock { $0[name] = entry }
        }
    }

    private func sealed(
        _ content: borrowing SecretBytes, _ head: RecordHead, _ key: RecordKey?
    ) -> SecretBytes {
        let bytes = head.bytes(of: boot)
        guard let key else { return SecretBytes(copying: bytes).appending(content) }
        return content.withBytes {
            key.sealing.sealForMemory($0, context: context(bytes), behind: bytes)
        }
    }

    /// The content of a record that was written under that key, or plain for nil.
    private func content(_ name: String, under key: RecordKey?) -> SecretBytes? {
        guard let file = try? PrivateFile.read(path(name), limit: Self.longestFile),
            let head = RecordHead(file, of: boot), head.name == name,
            head.isSealed == (key != nil)
        else { return nil }
        let bytes = head.bytes(of: boot)
        guard file.count > bytes.count else { return nil }
        guard let key else { return file.part(bytes.count..<file.count) }
        let context = context(bytes)
        return file.withBytes {
            try? key.sealing.open(
                $0.extracting(bytes.count..<$0.byteCount), context: context)
        }
    }

    private func context(_ head: [UInt8]) -> [UInt8] {
        var context = ByteWriter(capacity: 4 + head.count)
        context.append(number: user)
        context.append(raw: head)
        return context.bytes
    }

    private static let longestFile =
        RecordHead.fixedBytes + longestName + SealingKey.overhead + longestContent

    private func path(_ name: String) -> String { folder + "/" + Self.file(name) }

    /// The name itself where it is short and of letters, digits, `-`, `_` and `:`. What PrivateFile
    /// leaves behind has a dot.
    private static func file(_ name: String) -> String {
        let isSafe = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isSafe, (1...128).contains(name.utf8.count) else {
            return "#" + KeyedHash.fingerprint(Array(name.utf8)).hexadecimal
        }
        return name
    }

    /// The time since boot, including sleep.
    private static var now: Duration { ContinuousClock().systemEpoch.duration(to: .now) }
}

extension SealedRecords.Entry {
    fileprivate func isGood(_ now: Duration, _ present: RecordKey?) -> Bool {
        if let ends, now >= ends { return false }
        return key == nil || key == present?.number
    }
}

/// What is in clear before a record's content, and sealed with it.
private struct RecordHead {
    private static let version: UInt8 = 1
    private static let bootBytes = 36
    /// Version, kind, end, boot, length of the name.
    static let fixedBytes = 1 + 1 + 8 + bootBytes + 2

    let name: String
    let isSealed: Bool
    /// The time since boot in whole milliseconds; nil for a record without an end.
    let ends: Duration?

    init(name: String, isSealed: Bool, ends: Duration?) {
        self.name = name
        self.isSealed = isSealed
        self.ends = ends.map { .milliseconds(Self.milliseconds($0)) }
    }

    /// nil for a file that makes no sense, and for one of another boot.
    init?(_ file: borrowing SecretBytes, of boot: [UInt8]) {
        guard file.count >= Self.fixedBytes else { return nil }
        var reader = ByteReader(file.part(0..<Self.fixedBytes).releasedFromLockedMemory())
        guard let version = try? reader.byte(), version == Self.version,
            let kind = try? reader.byte(), kind <= 1,
            let ends = (try? reader.number(UInt64.self)).flatMap(Int64.init(exactly:)),
            let ofBoot = try? reader.take(Self.bootBytes), ofBoot.elementsEqual(boot),
            let length = (try? reader.number(UInt16.self)).map(Int.init(clamping:)),
            file.count >= Self.fixedBytes + length
        else { return nil }
        let end = Self.fixedBytes + length
        let name = file.part(Self.fixedBytes..<end).releasedFromLockedMemory()
        self.name = String(decoding: name, as: UTF8.self)
        isSealed = kind == 1
        self.ends = ends == 0 ? nil : .milliseconds(ends)
    }

    func bytes(of boot: [UInt8]) -> [UInt8] {
        let name = Array(name.utf8)
        var writer = ByteWriter(capacity: Self.fixedBytes + name.count)
        writer.append(Self.version)
        writer.append(isSealed ? 1 : 0)
        writer.append(number: UInt64(clamping: ends.map(Self.milliseconds) ?? 0))
        writer.append(raw: boot)
        writer.append(number: UInt16(clamping: name.count))
        writer.append(raw: name)
        return writer.bytes
    }

    private static func milliseconds(_ time: Duration) -> Int64 {
        time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    }

    /// Zeros where the kernel does not tell: the folder ends with the boot by itself.
    static func currentBoot() -> [UInt8] {
        let boot = KernelFile.read("/proc/sys/kernel/random/boot_id", limit: bootBytes) ?? []
        return boot.count == bootBytes ? boot : [UInt8](repeating: 0, count: bootBytes)
    }
}
