// SPDX-License-Identifier: Apache-2.0
import KeychainKernelKeyring
@testable import KeyringStore
@testable import LoginRegistry
import SystemTestSupport
import Testing

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
final class PasswordMismatchTests {
    private let folder: ScratchFolder
    private let keyring: DaemonKeyring
    private let mismatch: PasswordMismatch

    init() throws {
        folder = try ScratchFolder()
        keyring = try DaemonKeyring(stateFolder: folder.path)
        mismatch = PasswordMismatch(keyring: keyring)
    }

    deinit { KeyringOfTest.remove(folder.path) }

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

    @Test func `another service of the machine knows who was told`() {
        mismatch.note(7)
        let again = PasswordMismatch(keyring: keyring)
        #expect(again.tell(7))
        #expect(!mismatch.tell(7))
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
