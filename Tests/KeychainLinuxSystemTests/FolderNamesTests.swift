// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import Testing

@Suite final class FolderNamesTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder + "/inner/below", withIntermediateDirectories: true)
        for name in ["/a", "/.hidden", "/inner/b", "/inner/below/c"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + name))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @Test func `all that lies in a folder is named, and of what is no folder nothing`() {
        #expect(FolderNames.all(in: folder).sorted() == [".hidden", "a", "inner"])
        #expect(FolderNames.all(in: folder + "/a").isEmpty)
        #expect(FolderNames.all(in: folder + "/none").isEmpty)
    }

    @Test func `a folder that can't be read is told from one that is empty or missing`() throws {
        let loop = folder + "/loop"
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(throws: SystemError.system(ELOOP)) { _ = try FolderNames.complete(in: loop) }
        #expect(FolderNames.all(in: loop).isEmpty)
        let names = try FolderNames.complete(in: folder)
        #expect(names.sorted() == [".hidden", "a", "inner", "loop"])
        for none in ["/a", "/none"] { #expect(try FolderNames.complete(in: folder + none) == []) }
    }

    @Test func `a folder is removed with all that is in it, and a link's target stays`() throws {
        let link = folder + "/inner/below/link"
        let other = folder + "-other"
        try FileManager.default.createDirectory(
            atPath: other, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: other) }
        try Data("x".utf8).write(to: URL(fileURLWithPath: other + "/kept"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
        FolderNames.remove(folder + "/inner")
        #expect(FileStatus(folder + "/inner") == nil)
        #expect(FolderNames.all(in: other) == ["kept"])
        FolderNames.remove(folder + "/a")
        FolderNames.remove(folder + "/none")
        #expect(FolderNames.all(in: folder) == [".hidden"])
    }

    @Test func `what the kernel tells of a file changes with the file`() throws {
        let path = folder + "/a"
        let before = try #require(FileStatus(path))
        #expect(before.size == 1 && before.age >= .zero && before.age < .seconds(600))
        try GrowingFile(path).append(Array("yz".utf8))
        let after = try #require(FileStatus(path))
        #expect(after.size == 3 && after != before && after.number == before.number)
    }

    @Test func `a file's time can be set, and that of a link's target stays`() throws {
        let link = folder + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: folder + "/a")
        let before = try #require(FileStatus(folder + "/a")?.changed)
        let early = Duration.seconds(1_000_000) + .nanoseconds(999_999_999)
        #expect(FileStatus.setChanged(early, of: link))
        #expect(FileStatus(folder + "/a")?.changed == before)
        #expect(FileStatus.setChanged(early, of: folder + "/a"))
        #expect(FileStatus(folder + "/a")?.changed == early)
        #expect(!FileStatus.setChanged(early, of: folder + "/none"))
    }

    @Test func `two that write to the end of a file overwrite nothing of each other's`() throws {
        let (one, other) = (try GrowingFile(folder + "/log"), try GrowingFile(folder + "/log"))
        for line in 0..<100 { try (line % 2 == 0 ? one : other).append(Array("\(line)\n".utf8)) }
        let text = try String(contentsOfFile: folder + "/log", encoding: .utf8)
        #expect(text == (0..<100).map { "\($0)\n" }.joined())
        #expect(try one.size() == text.utf8.count)
        #expect(FileStatus(folder + "/log")?.mode == 0o600)
    }
}
