// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

/// What a process takes away from itself. That of `keychain-import` as a whole is tried by
/// `Tests/System/test_foreign_files.py`.
struct ConfinementTests {
    private static func openError(_ path: String, _ flags: Int32) -> Int32 {
        let number = unsafe open(path, flags, 0o600)
        guard number < 0 else {
            close(number)
            return 0
        }
        return errno
    }

    /// A thread takes it from itself alone.
    @Test func `a thread that forbids itself files opens and makes none, and keeps what it has`()
        throws
    {
        let folder = try ScratchFolder()
        let new = folder("new")
        let own = try Descriptor.reading("/etc/passwd")
        let errors = try Background {
            try #require(kc_forbid_files() == 0)
            return [
                Self.openError("/etc/passwd", O_RDONLY), Self.openError(new, O_WRONLY | O_CREAT),
                Self.openError("/dev/null", O_WRONLY), Self.openError("/proc/self/stat", O_RDONLY),
            ]
        }.value()
        // Where the kernel has no Landlock all of them open.
        if errors != [0, 0, 0, 0] { #expect(errors == [EACCES, EACCES, EACCES, EACCES]) }
        #expect(try own.size() > 0)
        #expect(Self.openError("/etc/passwd", O_RDONLY) == 0)
    }
}

struct DescriptorInputTests {
    private func input(_ bytes: [UInt8]) throws -> DescriptorInput {
        let pipe = try Pipe.make()
        try pipe.writes.write(bytes)
        return DescriptorInput(pipe.reads, atMost: .max, until: .now + .seconds(30))
    }

    @Test func `fields are taken in their order, and an end within one is an error`() throws {
        let input = try input([7, 1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 8, 9, 5, 0, 0])
        #expect(try input.byte() == 7)
        #expect(try input.number() == 0x8000_0000_0000_0001)
        #expect(try input.bytes(atMost: 2) == [8, 9])
        #expect(throws: SystemError.malformed) { try input.bytes(atMost: 2) }
    }

    @Test func `bytes that are longer than they may be are not taken`() throws {
        let input = try input([3, 0, 0, 0, 1, 2, 3])
        #expect(throws: SystemError.tooLarge) { try input.bytes(atMost: 2) }
        let endless = try self.input([255, 255, 255, 255])
        #expect(throws: SystemError.tooLarge) { try endless.bytes(atMost: 1 << 26) }
    }

    @Test func `a writer that says no more is waited for until the deadline`() throws {
        let pipe = try Pipe.make()
        try pipe.writes.write([1])
        let input = DescriptorInput(pipe.reads, atMost: .max, until: .now + .milliseconds(50))
        #expect(throws: SystemError.timedOut) { try input.number() }
        _ = pipe.writes
    }
}
