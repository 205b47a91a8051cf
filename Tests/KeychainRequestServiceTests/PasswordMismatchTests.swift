// SPDX-License-Identifier: Apache-2.0
@testable import KeyringStore
@testable import LoginRegistry
import SystemTestSupport
import Testing

struct PasswordMismatchTests {
    private let folder: ScratchFolder
    private let mismatch: PasswordMismatch

    init() throws {
        folder = try ScratchFolder()
        mismatch = try Self.mismatch(folder)
    }

    /// No vault key was made before: root may reset a password of a user who has not logged in.
    private static func mismatch(_ folder: ScratchFolder) throws -> PasswordMismatch {
        PasswordMismatch(
            records: try SealedRecords(folder: folder.path, of: 7, key: RecordKeysOfTest()))
    }

    @Test func `a user whose passwords differ is told once`() {
        #expect(!mismatch.tell(7))
        mismatch.note(7)
        #expect(!mismatch.tell(8))
        #expect(mismatch.tell(7))
        #expect(!mismatch.tell(7))
        // The next login finds it again.
        mismatch.note(7)
        #expect(!mismatch.tell(7))
    }

    @Test func `another service of the machine knows who was told`() throws {
        mismatch.note(7)
        #expect(try Self.mismatch(folder).tell(7))
        #expect(try !Self.mismatch(folder).tell(7))
    }

    @Test func `once they were the same the user is told anew`() {
        mismatch.note(7)
        #expect(mismatch.tell(7))
        mismatch.end(7)
        #expect(!mismatch.tell(7))
        mismatch.note(7)
        #expect(mismatch.tell(7))
    }
}
