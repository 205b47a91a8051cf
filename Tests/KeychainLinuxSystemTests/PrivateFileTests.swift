// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainSecrets
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

struct PrivateFileTests {
    private let folder: ScratchFolder
    private var path: String { folder("key") }
    private static let content: [UInt8] = Array("thirty-two bytes that are secret".utf8)

    init() throws { folder = try ScratchFolder() }

    private func create(_ content: [UInt8] = content) throws {
        try PrivateFile.create(path, contents: SecretBytes(copying: content))
    }
    private func read(_ path: String? = nil, limit: Int = 64) throws -> [UInt8] {
        try PrivateFile.read(path ?? self.path, limit: limit).releasedFromLockedMemory()
    }

    @Test(arguments: [0, 1, 32, 10_000])
    func `what was kept is read again`(count: Int) throws {
        let content = RandomBytes.make(count)
        try create(content)
        #expect(try read(limit: count) == content)
        #expect(mode(of: path) == UInt32(S_IFREG) | 0o600)
        #expect(folder.names == ["key"])
    }

    @Test func `a file that exists is not replaced`() throws {
        try create()
        #expect(throws: SystemError.system(EEXIST)) { try create([1]) }
        #expect(try read() == Self.content)
        #expect(folder.names == ["key"])
    }

    @Test func `a file that is missing is not found`() throws {
        #expect(throws: SystemError.system(PrivateFile.notFound)) { try read() }
    }

    @Test func `a longer file than expected is refused`() throws {
        try create()
        #expect(throws: SystemError.tooLarge) { try read(limit: Self.content.count - 1) }
    }

    @Test(arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601] as [UInt32])
    func `a file that others have a right to is refused`(mode: UInt32) throws {
        try create()
        chmodOrFail(path, mode)
        #expect(throws: SystemError.notPrivate) { try read() }
    }

    @Test func `a link is refused, of either kind`() throws {
        try create()
        #expect(unsafe symlink(path, folder("symbolic")) == 0)
        #expect(throws: SystemError.system(ELOOP)) { try read(folder("symbolic")) }
        #expect(unsafe link(path, folder("hard")) == 0)
        #expect(throws: SystemError.notPrivate) { try read() }
    }

    @Test(.enabled(if: isRoot, "only root can give a file away"))
    func `another user's file is refused`() throws {
        try create()
        #expect(unsafe chown(path, 61_234, 0) == 0)
        #expect(throws: SystemError.notPrivate) { try read() }
    }

    @Test func `what is no file is refused and not waited for`() throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(throws: SystemError.notPrivate) { try read() }
        #expect(throws: SystemError.notPrivate) { try read(folder.path) }
    }

    @Test func `a removed file is overwritten first`() throws {
        try create()
        let kept = try Descriptor(owning: #require(Self.opened(path)))
        PrivateFile.remove(path)
        #expect(folder.names.isEmpty)
        #expect(Pipe.read(kept, 64) == [UInt8](repeating: 0, count: Self.content.count))
        PrivateFile.remove(path)
    }

    @Test func `removing does not reach through a link`() throws {
        try create()
        #expect(unsafe symlink(path, folder("symbolic")) == 0)
        PrivateFile.remove(folder("symbolic"))
        #expect(unsafe link(path, folder("hard")) == 0)
        PrivateFile.remove(folder("hard"))
        #expect(folder.names == ["key"])
        #expect(try read() == Self.content)
    }

    @Test func `a database that can't be removed keeps its log`() throws {
        try PrivateFile.folder(path, mode: 0o700)
        _ = folder.write("key-wal", "x", mode: 0o600)
        #expect(throws: SystemError.system(EISDIR)) { try PrivateFile.removeDatabase(path) }
        #expect(folder.names == ["key", "key-wal"])
    }

    @Test func `a database goes with all that lies beside it, even if it is gone already`() throws {
        for _ in 1...2 {
            for ending in ["-wal", "-shm", "-journal", "-other"] {
                _ = folder.write("key" + ending, "x", mode: 0o600)
            }
            try PrivateFile.removeDatabase(path)
            #expect(folder.names == ["key-other"])
        }
    }

    @Test(arguments: [0o700, 0o711, 0o755] as [UInt32])
    func `a folder is made with those above it`(wanted: UInt32) throws {
        let path = folder("a/b/c")
        try PrivateFile.folder(path, mode: wanted)
        try PrivateFile.folder(path, mode: wanted)
        #expect(mode(of: path) == UInt32(S_IFDIR) | wanted)
    }

    @Test(arguments: [0o720, 0o702, 0o1777] as [UInt32])
    func `a folder that others may write to is refused and left as it is`(open: UInt32) throws {
        let path = folder("a")
        try PrivateFile.folder(path, mode: 0o700)
        chmodOrFail(path, open)
        #expect(throws: SystemError.notPrivate) {
            try PrivateFile.folder(path, mode: 0o700)
        }
        #expect(mode(of: path) == UInt32(S_IFDIR) | open)
    }

    @Test func `a file is no folder`() throws {
        try create()
        #expect(throws: SystemError.notPrivate) {
            try PrivateFile.folder(path, mode: 0o700)
        }
    }

    @Test(.enabled(if: isRoot, "only root can give a folder away"))
    func `another user's folder is refused`() throws {
        try PrivateFile.folder(folder("a"), mode: 0o700)
        #expect(unsafe chown(folder("a"), 61_234, 0) == 0)
        #expect(throws: SystemError.notPrivate) {
            try PrivateFile.folder(folder("a"), mode: 0o700)
        }
    }

    private static func opened(_ path: String) -> Int32? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        return number < 0 ? nil : number
    }
}
