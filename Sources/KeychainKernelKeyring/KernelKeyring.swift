// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets
internal import CKeychainKeyutils
internal import Glibc
internal import Synchronization

/// Keys that the kernel holds (keyrings(7)).
package enum KernelKeyring {
    /// The most bytes of one key's content; the kernel's own limit for `user` keys.
    package static let largestPayload = 32767
    private static let mostKeys = 16_384
    /// Held while a key is in the process's own keyring, where another one of its name would be the
    /// same key.
    private static let making = Mutex(())

    /// Returns false where the calls are refused, as by the filters of containers.
    package static func isAvailable() -> Bool {
        let serial = keyctl_get_keyring_ID(KeySerial.userKeyring.rawValue, 1)
        return serial > 0
    }

    /// Gives the calling thread, and threads that it starts, an empty session keyring, and one of
    /// the process, in which keys are made: a thread that found none would have one of its own,
    /// which counts among its user's keys.
    ///
    /// Before a process may use a key by its number, the kernel searches all keyrings that the
    /// process possesses for it: without an own session keyring, all of its user's keyrings.
    package static func joinEmptySession() {
        // Where the call is refused, the search is only as slow as before.
        _ = keyctl_join_session_keyring(nil)
        _ = keyctl_get_keyring_ID(KeySerial.processKeyring.rawValue, 1)
    }

    // MARK: Keyrings

    package static func makeKeyring(
        _ description: String, in parent: KeySerial, permissions: UInt32
    ) throws(KeyringError) -> KeySerial {
        try making.withLock { _ throws(KeyringError) in
            // Safe: reads the strings; a keyring has no content.
            let made = unsafe add_key(
                "keyring", description, nil, 0, KeySerial.processKeyring.rawValue)
            return try settle(made, in: parent, permissions: permissions, timeoutSeconds: nil)
        }
    }

    /// A keyring directly in `parent`, even if there are others of that name elsewhere.
    package static func findKeyring(
        _ description: String, in parent: KeySerial
    ) throws(KeyringError) -> KeySerial? {
        try findDirectly("keyring", description, parent)
    }

    package static func list(_ keyring: KeySerial) throws(KeyringError) -> [KeySerial] {
        var serials = [Int32](repeating: 0, count: 256)
        while true {
            let room = serials.count * 4
            // Safe: the kernel writes at most `room` bytes and says how many there are.
            let bytes = unsafe serials.withUnsafeMutableBytes {
                unsafe keyctl_read(
                    keyring.rawValue, $0.baseAddress!.assumingMemoryBound(to: CChar.self), room)
            }
            guard bytes >= 0 else { throw KeyringError(errno) }
            if bytes <= room {
                return serials.prefix(bytes / 4).map { KeySerial(rawValue: $0) }
            }
            guard bytes / 4 <= mostKeys else { throw .tooLarge }
            serials = [Int32](repeating: 0, count: bytes / 4 + 16)
        }
    }

    // MARK: Keys

    /// Makes a key and links it into `keyring`, replacing one of the same description.
    ///
    /// The key is made while this thread possesses it, since only then can its rights be set (an
    /// owner who does not possess a key may not set them). So it is made in the process's own
    /// keyring, by one thread at a time.
    ///
    /// A replaced key counts beside the new one until the kernel has tidied up, some milliseconds
    /// later: `update` replaces a content at once.
    @discardableResult
    package static func add(
        _ description: String, _ payload: borrowing SecretBytes, in keyring: KeySerial,
        permissions: UInt32?, timeoutSeconds: UInt32?
    ) throws(KeyringError) -> KeySerial {
        guard payload.count <= largestPayload else { throw .tooLarge }
        return try making.withLock { _ throws(KeyringError) in
            let made = payload.withBytes { bytes in
                // Safe: the kernel copies the borrowed bytes.
                unsafe bytes.withUnsafeBytes {
                    unsafe add_key(
                        "user", description, $0.baseAddress, $0.count,
                        KeySerial.processKeyring.rawValue)
                }
            }
            return try settle(
                made, in: keyring, permissions: permissions, timeoutSeconds: timeoutSeconds)
        }
    }

    /// Finds a `user` key directly in `keyring`.
    package static func find(
        _ description: String, in keyring: KeySerial
    ) throws(KeyringError) -> KeySerial? {
        try findDirectly("user", description, keyring)
    }

    package static func read(
        _ key: KeySerial, limit: Int = largestPayload
    ) throws(KeyringError) -> SecretBytes {
        var guess = min(limit, 256)
        while true {
            var count = 0
            let bytes = SecretBytes(count: guess) { (span: inout MutableRawSpan) in
                // Safe: the kernel writes at most the span's length.
                count = unsafe span.withUnsafeMutableBytes {
                    unsafe keyctl_read(
                        key.rawValue, $0.baseAddress!.assumingMemoryBound(to: CChar.self),
                        $0.count)
                }
            }
            guard count >= 0 else { throw KeyringError(errno) }
            if count <= guess { return bytes.narrowed(to: 0..<count) }
            guard count <= limit else { throw .tooLarge }
            guess = count
        }
    }

    /// Replaces the key's content, and takes its timeout away; the kernel wipes what was there.
    package static func update(
        _ key: KeySerial, _ payload: borrowing SecretBytes
    ) throws(KeyringError) {
        let result = payload.withBytes { bytes in
            // Safe: the kernel copies the borrowed bytes.
            unsafe bytes.withUnsafeBytes {
                unsafe keyctl_update(key.rawValue, $0.baseAddress, $0.count)
            }
        }
        try check(result)
    }

    /// Whether the key still exists, neither revoked nor expired.
    package static func isReadable(_ key: KeySerial) -> Bool {
        // Without a buffer the kernel tells the length and writes nothing.
        keyctl_read(key.rawValue, nil, 0) >= 0
    }

    package static func describe(_ key: KeySerial) throws(KeyringError) -> KeyDescription {
        var text = [UInt8](repeating: 0, count: 512)
        // Safe: the kernel writes at most the array's length, with a zero at the end.
        let count = unsafe text.withUnsafeMutableBytes {
            unsafe keyctl_describe(
                key.rawValue, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard count > 0 else { throw KeyringError(errno) }
        guard count <= text.count,
            let described = KeyDescription(
                String(decoding: text.prefix(count - 1), as: UTF8.self))
        else { throw .tooLarge }
        return described
    }

    /// Whether the key is a `user` key of that user id and description, neither revoked nor
    /// expired.
    package static func isUserKey(
        _ key: KeySerial, of user: UInt32, described description: String
    ) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { text in
            // Safe: the kernel writes at most the buffer's length, with a zero at the end.
            let count = unsafe keyctl_describe(
                key.rawValue, text.assumingMemoryBound(to: CChar.self).baseAddress!, text.count)
            guard count > 0, count <= text.count else { return false }
            // Safe: only what the kernel wrote is read.
            let fields = unsafe UnsafeRawBufferPointer(rebasing: text[..<(Int(count) - 1)])
            return unsafe isUserKey(fields, of: user, described: description)
        }
    }

    /// `fields` is `type;uid;gid;perm;description`; the last may have semicolons of its own.
    private static func isUserKey(
        _ fields: UnsafeRawBufferPointer, of user: UInt32, described description: String
    ) -> Bool {
        var place = 0
        var owner: UInt64 = 0
        // Safe: each place is looked at before its byte. The owner has at most ten digits.
        for digit in "user;".utf8 {
            guard place < fields.count, unsafe fields[place] == digit else { return false }
            place += 1
        }
        while place < fields.count, case let digit = unsafe fields[place], digit != 0x3B {
            guard (0x30...0x39).contains(digit), owner <= UInt32.max else { return false }
            owner = owner * 10 + UInt64(digit - 0x30)
            place += 1
        }
        guard owner == user else { return false }
        // Safe: as above.
        for _ in 0..<3 {
            while place < fields.count, unsafe fields[place] != 0x3B { place += 1 }
            place += 1
        }
        let wanted = description.utf8Span.span
        guard fields.count - place == wanted.count else { return false }
        for offset in wanted.indices where unsafe fields[place + offset] != wanted[offset] {
            return false
        }
        return true
    }

    package static func setTimeout(_ key: KeySerial, seconds: UInt32) throws(KeyringError) {
        try check(keyctl_set_timeout(key.rawValue, seconds))
    }

    package static func link(_ key: KeySerial, into keyring: KeySerial) throws(KeyringError) {
        try check(keyctl_link(key.rawValue, keyring.rawValue))
    }

    package static func unlink(_ key: KeySerial, from keyring: KeySerial) throws(KeyringError) {
        try check(keyctl_unlink(key.rawValue, keyring.rawValue))
    }

    /// Revokes the key: it can't be read any more, wherever it is linked, and keeps its place among
    /// its owner's keys while it is.
    package static func revoke(_ key: KeySerial) throws(KeyringError) {
        try check(keyctl_revoke(key.rawValue))
    }

    /// Revokes the key, and takes it out of all keyrings soon after. A keyring that loses a key so
    /// keeps counting the four bytes of its link: unlink the key first.
    package static func invalidate(_ key: KeySerial) throws(KeyringError) {
        try check(keyctl_invalidate(key.rawValue))
    }

    /// Ends the key for every holder of a link to it. It is invalidated, which gives back its place among
    /// its owner's keys, and revoked where the kernel refuses that.
    package static func end(_ key: KeySerial) {
        do throws(KeyringError) { try invalidate(key) } catch { try? revoke(key) }
    }

    // MARK: Steps

    private static func settle(
        _ made: Int32, in keyring: KeySerial, permissions: UInt32?, timeoutSeconds: UInt32?
    ) throws(KeyringError) -> KeySerial {
        guard made > 0 else { throw KeyringError(errno) }
        let serial = KeySerial(rawValue: made)
        defer { _ = keyctl_unlink(made, KeySerial.processKeyring.rawValue) }
        if let permissions { try check(keyctl_setperm(made, permissions)) }
        if let timeoutSeconds { try setTimeout(serial, seconds: timeoutSeconds) }
        try link(serial, into: keyring)
        return serial
    }

    /// The kernel's search descends into nested keyrings, so its result is looked up again among
    /// the direct members.
    private static func findDirectly(
        _ type: String, _ description: String, _ keyring: KeySerial
    ) throws(KeyringError) -> KeySerial? {
        // Safe: reads the strings, links nowhere.
        let found = unsafe keyctl_search(keyring.rawValue, type, description, 0)
        guard found >= 0 else {
            switch KeyringError(errno) {
            case .notFound, .expired, .revoked: return nil
            case let error: throw error
            }
        }
        let serial = KeySerial(rawValue: Int32(found))
        return try list(keyring).contains(serial) ? serial : nil
    }

    private static func check(_ result: Int) throws(KeyringError) {
        guard result >= 0 else { throw KeyringError(errno) }
    }
}

/// A key or keyring by its number in the kernel; the special ones are negative.
package struct KeySerial: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Ends with the process, or with the thread that it was made for.
    package static let processKeyring = KeySerial(rawValue: -2)
    /// Shared by all processes of a user id.
    package static let userKeyring = KeySerial(rawValue: -4)
}

/// The kernel's description of a key, without its content.
package struct KeyDescription: Sendable, Equatable {
    package let type: String
    package let user: UInt32
    package let group: UInt32
    /// Four bytes of rights: possessor, owner, group, others.
    package let permissions: UInt32
    package let description: String

    /// `type;uid;gid;perm;description`, as KEYCTL_DESCRIBE writes it.
    init?(_ text: String) {
        let parts = text.split(separator: ";", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let user = UInt32(parts[1]), let group = UInt32(parts[2]),
            let permissions = UInt32(parts[3], radix: 16)
        else { return nil }
        type = String(parts[0])
        self.user = user
        self.group = group
        self.permissions = permissions
        description = String(parts[4])
    }
}

/// The kernel's reason for not doing a call.
package enum KeyringError: Error, Equatable, Sendable {
    case notFound
    case expired
    case revoked
    case quotaExceeded
    case refused
    /// The kernel has no keyrings, or a container's filter refuses the calls.
    case unsupported
    case tooLarge
    case system(Int32)

    init(_ code: Int32) {
        switch code {
        case ENOKEY, ENOENT: self = .notFound
        case EKEYEXPIRED: self = .expired
        case EKEYREVOKED: self = .revoked
        case EDQUOT: self = .quotaExceeded
        case EACCES, EPERM: self = .refused
        case ENOSYS, EOPNOTSUPP: self = .unsupported
        default: self = .system(code)
        }
    }
}
