// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

/// The lock of a file.
struct LockingTests {
    private let path: String
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        path = folder("lock")
    }

    private func lock(_ patience: Duration) throws -> Descriptor {
        try Descriptor.locking(path, patience: patience)
    }

    @Test func `while it is held another one waits in vain, and has it afterwards`() throws {
        var held: Descriptor? = try lock(.zero)
        #expect(held != nil && folder.names == ["lock"])
        #expect(throws: SystemError.timedOut) { try lock(.milliseconds(20)) }
        withExtendedLifetime(held) {}
        held = nil
        // A program that another test starts meanwhile keeps a copy until it executes.
        #expect(throws: Never.self) { try lock(.seconds(60)) }
    }

    @Test func `a link is not followed`() throws {
        #expect(unsafe symlink(folder("other"), path) == 0)
        #expect(throws: SystemError.self) { try lock(.zero) }
        #expect(folder.names == ["lock"])
    }
}
